// Preloaded into a program and its threads. Kills the process at the change of the disk with number KILL_AT:
// in the middle of a write, or before any other change. Without KILL_AT, prints the number of changes to
// stdout.
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const killAt = Number(process.env['KILL_AT'] ?? Number.POSITIVE_INFINITY)

/** The total of all threads. */
const changes = threads.isMainThread ? new Int32Array(new SharedArrayBuffer(4)) : threads.workerData

threads.Worker = class extends threads.Worker {
  /** @param {URL} program @param {import('node:worker_threads').WorkerOptions} options */
  constructor(program, options) {
    super(program, { ...options, workerData: changes })
  }
}

/**
 * Tells whether this change has the number KILL_AT.
 *
 * @returns {boolean}
 */
function isLast() {
  return Atomics.add(changes, 0, 1) >= killAt
}

function killProcess() {
  process.kill(process.pid, 'SIGKILL')
}

/** @param {Record<string, any>} holder @param {string[]} names @param {(args: any[]) => boolean} [isChange] */
function killAtWrites(holder, names, isChange = () => true) {
  for (const name of names) {
    const original = holder[name]
    /** @this {unknown} @param {any[]} args */
    holder[name] = function mortal(...args) {
      if (isChange(args) && isLast()) {
        if (name === 'writeSync') original.call(this, args[0], args[1].subarray(0, args[1].length / 2))
        killProcess()
      }
      return original.apply(this, args)
    }
  }
}

const handle = await promises.open(new URL(import.meta.url))
killAtWrites(Object.getPrototypeOf(handle), ['sync'])
await handle.close()
killAtWrites(promises, ['mkdir', 'rename', 'rm', 'rmdir', 'unlink', 'writeFile', 'appendFile', 'link'])
killAtWrites(fs, ['writeSync', 'renameSync', 'fdatasync'])
killAtWrites(fs, ['openSync'], ([, flags]) => flags === 'wx')
killAtWrites(fs, ['mkdirSync'], ([path]) => path.includes('.serve-dist'))
syncBuiltinESMExports()

if (threads.isMainThread) {
  process.on('exit', () => {
    process.stdout.write(`${changes[0]}\n`)
  })
}
