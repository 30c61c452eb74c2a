// Serves a folder and requests a path many times. Prints the bytes that each function of the built server
// allocated for a request, sampled by V8's heap profiler.
import { Session } from 'node:inspector/promises'
import { connect } from 'node:net'
import { serve } from '../../dist/index.js'

const [directory = '', request = '', count = ''] = process.argv.slice(2)
const ours = new URL('../../dist/', import.meta.url).href
const server = await serve({ directory, port: 0 })
const { port } = new URL(server.url)

// Long enough for V8 to optimize hot functions.
await ask(30_000)
const session = new Session()
session.connect()
await session.post('HeapProfiler.startSampling', {
  samplingInterval: 256,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
})
await ask(Number(count))
const { profile } = await session.post('HeapProfiler.stopSampling')

/** @type {Record<string, number>} */
const allocated = {}
const nodes = [profile.head]
for (const { callFrame, selfSize, children } of nodes) {
  nodes.push(...children)
  const { url, functionName } = callFrame
  const name = url.startsWith(ours) ? `${url.slice(ours.length)} ${functionName}` : 'others'
  allocated[name] = (allocated[name] ?? 0) + selfSize / Number(count)
}
process.stdout.write(JSON.stringify(allocated))
process.exit()

/**
 * Sends sequential requests on several connections.
 *
 * @param {number} times
 */
async function ask(times) {
  let left = times
  const askOnOne = async () => {
    const socket = connect(Number(port))
    socket.write(request)
    let received = 0
    /** @type {number | undefined} */
    let length
    for await (const bytes of socket) {
      received += bytes.length
      length ??= lengthOf(bytes)
      if (received < length) continue
      received -= length
      left -= 1
      if (left <= 0) break
      socket.write(request)
    }
  }
  await Promise.all(Array.from({ length: 10 }, askOnOne))
}

/**
 * Returns the length of head and body. All responses have the same length.
 *
 * @param {Buffer} bytes
 */
function lengthOf(bytes) {
  const text = bytes.toString('latin1')
  return text.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
}
