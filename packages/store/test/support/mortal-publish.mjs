// node mortal-publish.mjs <folder> <where> <options>: publishes, and kills itself, really, at the point whose number
// KILL_AT says: before a verb of the store, in the middle of a body, or after a verb. Without KILL_AT it counts, and prints
// that. With KILL_IN_LOCK it dies when the history of a folder is renamed, for which the lock is held.
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'
import { aroundVerbs } from './around-verbs.mjs'

const killAt = Number(process.env['KILL_AT'] ?? Number.POSITIVE_INFINITY)
let points = 0

function die() {
  process.kill(process.pid, 'SIGKILL')
}

function point() {
  points += 1
  if (points > killAt) die()
}

if (process.env['KILL_IN_LOCK'] !== undefined) {
  const { rename } = promises
  promises.rename = async (from, to) => {
    if (String(to).endsWith('current.json')) die()
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
            point()
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
await publish(directory, aroundVerbs(inPieces, point), JSON.parse(options))
// A store that did not make it try again has fewer points than the one that was counted.
if (Number.isFinite(killAt)) die()
console.log(points)
