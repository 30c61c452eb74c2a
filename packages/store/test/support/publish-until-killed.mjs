// node publish-until-killed.mjs <folder> <where> <options>: publishes and kills itself at point number KILL_AT. Points
// are before each method of the store, in the middle of a body, and after each method. Without KILL_AT, it prints the
// number of points. With KILL_IN_LOCK, it dies at the rename of the history, when it holds the lock.
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'
import { interceptStore } from './intercept-store.mjs'

const killAt = Number(process.env['KILL_AT'] ?? Number.POSITIVE_INFINITY)
let countedPoints = 0

function killProcess() {
  process.kill(process.pid, 'SIGKILL')
}

function killAtPoint() {
  countedPoints += 1
  if (countedPoints > killAt) killProcess()
}

if (process.env['KILL_IN_LOCK'] !== undefined) {
  const { rename } = promises
  promises.rename = async (from, to) => {
    if (String(to).endsWith('current.json')) killProcess()
    await rename(from, to)
  }
  syncBuiltinESMExports()
}
const { openStore, publish } = await import('@serve-dist/store')

/** @param {import('@serve-dist/store').Content} content */
function inHalves(content) {
  const size = content instanceof Uint8Array ? content.length : content.size
  const open = () => (content instanceof Uint8Array ? Readable.from([content]) : content.open())
  return {
    size,
    open: () =>
      Readable.from(
        (async function* () {
          for await (const chunk of open()) {
            const half = Math.floor(chunk.length / 2)
            yield chunk.subarray(0, half)
            await new Promise((resolve) => setImmediate(resolve))
            killAtPoint()
            yield chunk.subarray(half)
          }
        })(),
        { objectMode: false },
      ),
  }
}

const [directory = '', where = '', options = '{}'] = process.argv.slice(2)
const store = await openStore(where)
/** @type {import('@serve-dist/store').StoreBackend} */
const inPieces = {
  ...store,
  put: async (key, content, more) => await store.put(key, inHalves(content), more),
}
await publish(directory, interceptStore(inPieces, killAtPoint), JSON.parse(options))
// Without retries, there are fewer points than in the counted run.
if (Number.isFinite(killAt)) killProcess()
console.log(countedPoints)
