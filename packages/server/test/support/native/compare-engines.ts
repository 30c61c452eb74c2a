import { createRandom } from '../soak/soak-random.ts'
import { type ClientScript, playScript, type Received, type SentRequest } from './client-script.ts'
import { randomScript, type ScriptVocabulary } from './random-script.ts'

/** The ports of two servers that should send the same responses. */
export interface ComparedServers {
  readonly node: number
  readonly native: number
}

export interface ComparisonOptions {
  readonly seed: number
  /** The approximate number of requests to each server. */
  readonly requests: number
  readonly vocabulary: ScriptVocabulary
}

/** The number of concurrent scripts: enough for two cores, and few enough to avoid long waits. */
const clients = 24

/**
 * Sends the same random octets to two servers, on many connections.
 *
 * @returns the number of requests to each server
 * @throws Error with the smallest script that has different responses, and both responses
 */
export async function compareEngines(servers: ComparedServers, options: ComparisonOptions): Promise<number> {
  const { seed, requests, vocabulary } = options
  let [sent, scripts] = [0, 0]
  let failure: Error | undefined
  const client = async (): Promise<void> => {
    while (sent < requests && failure === undefined) {
      const index = scripts
      scripts += 1
      const script = randomScript(createRandom(seed ^ Math.imul(index, 0x9e_37_79_b1)), vocabulary)
      sent += script.requests.length
      const difference = await differenceOf(servers, script)
      if (difference !== undefined)
        failure ??= await explain(servers, { script, vocabulary }, `script ${index}: ${difference}`)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  if (failure !== undefined) throw failure
  return sent
}

async function differenceOf(
  { node, native }: ComparedServers,
  script: ClientScript,
): Promise<string | undefined> {
  const [expected, found] = await Promise.all([playScript(node, script), playScript(native, script)])
  if (expected.octets.equals(found.octets) && isEnd(expected, found)) return undefined
  const [ofNode, ofNative] = [textOf(expected, script), textOf(found, script)]
  // Node may lose the end of a response to a reset if the client pipelines after its last request (RFC 9112
  // §9.6). Node may also lose whole responses before its 400 for a malformed chunk, if the client closed its
  // half.
  const hasChunks = script.requests.some(({ lines }) => /chunked/i.test(lines.join('')))
  const mayLack = expected.end === 'reset' || endsAmidAnswer(ofNode) || (script.closesHalf && hasChunks)
  const isLost = mayLack && ofNative.startsWith(ofNode) && found.end === 'closed'
  if (isLost || (ofNode === ofNative && isEnd(expected, found))) return undefined
  let place = 0
  while (place < ofNode.length && ofNode[place] === ofNative[place]) place += 1
  const around = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, place - 100), place + 200)).replaceAll(
      String.raw`\r\n`,
      '\\r\\n\n    ',
    )
  return [
    `at octet ${place}`,
    `  node, ${ofNode.length} octets, ${expected.end}: ${around(ofNode)}`,
    `  native, ${ofNative.length} octets, ${found.end}: ${around(ofNative)}`,
  ].join('\n')
}

/** Tells whether the last response is truncated, or may be because it ends with the connection. */
function endsAmidAnswer(text: string): boolean {
  const last = text.slice(Math.max(0, text.lastIndexOf('HTTP/1.1 ')))
  const head = last.indexOf('\r\n\r\n')
  if (head === -1) return last !== ''
  const [fields, body] = [last.slice(0, head), last.slice(head + 4)]
  if (/\r\nTransfer-Encoding: chunked/.test(fields)) return !/^0\r\n(?:[^\r]+\r\n)*\r\n/m.test(body)
  const length = /\r\nContent-Length: (\d+)/.exec(fields)?.[1]
  return length === undefined ? body !== '' : body.length < Number(length)
}

function isEnd(one: Received, other: Received): boolean {
  return (one.end === 'left open') === (other.end === 'left open')
}

/** Returns the received text without dates, and without parts that also vary with Node alone. */
function textOf({ octets }: Received, { closesHalf }: ClientScript): string {
  const text = octets
    .toString('latin1')
    .replaceAll(/\r\nDate: \w{3}, [^\r]{20} GMT(?=\r\n)/g, '\r\nDate: (now)')
    // A page has a 103 only if no other response is in progress.
    .replaceAll(/HTTP\/1\.1 103 Early Hints\r\n(?:[^\r]+\r\n)*\r\n/g, '')
  // Malformed input after a response in progress gets a 400, unless the server reads the client's end first.
  return closesHalf ? text.replace(/(?<=.)HTTP\/1\.1 4\d\d [\w ]+\r\nConnection: close\r\n\r\n$/s, '') : text
}

async function explain(
  servers: ComparedServers,
  { script, vocabulary }: { readonly script: ClientScript; readonly vocabulary: ScriptVocabulary },
  difference: string,
): Promise<Error> {
  const smallest = await shrink(servers, script, vocabulary.hasApplication)
  const again = await differenceOf(servers, smallest)
  const lines = smallest.requests.map(
    ({ lines: head, body, cuts, awaitsAnswer }) =>
      `  ${JSON.stringify(head.join(''))} + ${JSON.stringify(body)} cut at [${cuts.join()}]${awaitsAnswer ? ', awaited' : ''}`,
  )
  const shown = again === undefined ? `${difference}\n(not each time)` : `${difference}\nsmallest: ${again}`
  return new Error(
    `the engines answer differently, ${shown}\nto, ${smallest.closesHalf ? 'with' : 'without'} a closed half:\n${lines.join('\n')}`,
  )
}

/**
 * Removes everything that the difference does not need. Tries each removal twice because some differences are
 * intermittent.
 */
async function shrink(
  servers: ComparedServers,
  script: ClientScript,
  hasApplication: boolean,
): Promise<ClientScript> {
  for (const smaller of smallerScripts(script, hasApplication)) {
    if ((await differenceOf(servers, smaller)) ?? (await differenceOf(servers, smaller))) {
      return shrink(servers, smaller, hasApplication)
    }
  }
  return script
}

function* smallerScripts(script: ClientScript, hasApplication: boolean): Generator<ClientScript> {
  const { requests } = script
  // A closed half ends the connection sooner. An application would see a disconnected client.
  if (!script.closesHalf && !hasApplication) yield { ...script, closesHalf: true }
  for (const [index, request] of requests.entries()) {
    if (requests.length > 1) yield { ...script, requests: requests.toSpliced(index, 1) }
    for (const smaller of smallerRequests(request)) {
      yield { ...script, requests: requests.with(index, smaller) }
    }
  }
}

function* smallerRequests(request: SentRequest): Generator<SentRequest> {
  const { lines, body, cuts } = request
  if (cuts.length > 0) yield { ...request, cuts: cuts.slice(1) }
  // Without all parts of such a request, Node's answer depends on TCP segments.
  const isDelicate = /chunked|upgrade/i.test(lines.join(''))
  if (isDelicate) return
  if (body !== '') yield { ...request, body: '' }
  for (const index of lines.slice(1, -1).keys()) yield { ...request, lines: lines.toSpliced(index + 1, 1) }
}
