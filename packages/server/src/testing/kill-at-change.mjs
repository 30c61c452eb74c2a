// Loaded before a program: kills it, really, at the change to the disk whose number KILL_AT says, in the middle
// of a write and otherwise before the change. Without KILL_AT it counts, and tells on standard output.
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const killAt = Number(process.env['KILL_AT'] ?? Number.POSITIVE_INFINITY)
let changes = 0

/** @returns {boolean} whether this is the one */
function isLast() {
  changes += 1
  return changes - 1 >= killAt
}

function die() {
  process.kill(process.pid, 'SIGKILL')
}

/** @param {Record<string, any>} holder @param {string[]} names @param {(args: any[]) => boolean} [isChange] */
function makeMortal(holder, names, isChange = () => true) {
  for (const name of names) {
    const original = holder[name]
    /** @this {unknown} @param {any[]} args */
    holder[name] = function mortal(...args) {
      if (isChange(args) && isLast()) {
        if (name === 'writeSync') original.call(this, args[0], args[1].subarray(0, args[1].length / 2))
        die()
      }
      return original.apply(this, args)
    }
  }
}

const handle = await promises.open(new URL(import.meta.url))
makeMortal(Object.getPrototypeOf(handle), ['sync'])
await handle.close()
makeMortal(promises, ['mkdir', 'rename', 'rm', 'rmdir', 'unlink', 'writeFile', 'appendFile', 'link'])
makeMortal(fs, ['writeSync', 'renameSync', 'fdatasync'])
makeMortal(fs, ['openSync'], ([, flags]) => flags === 'wx')
syncBuiltinESMExports()

process.on('exit', () => {
  process.stdout.write(`${changes}\n`)
})
