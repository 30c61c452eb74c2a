import { createRandom } from '../soak/soak-random.ts'
import { type ClientScript, playScript, type Received, type SentRequest } from './client-script.ts'
import { randomScript, type ScriptVocabulary } from './random-script.ts'

/** Two servers that should answer alike, by their ports. */
export interface ComparedServers {
  readonly node: number
  readonly native: number
}

export interface ComparisonOptions {
  readonly seed: number
  /** How many requests are sent to each of both, about. */
  readonly requests: number
  readonly vocabulary: ScriptVocabulary
}

/** Scripts that are played at a time: enough for both cores, few enough that none waits for long. */
const clients = 24

/**
 * Sends the same random octets to two servers, on many connections at once.
 *
 * @returns how many requests were sent to each.
 * @throws Error with the smallest script that is answered differently, and both answers.
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
  // Node may lose the end of an answer to a reset, where the client sends more behind its last request (RFC 9112 §9.6), and
  // whole answers to its own refusal of a malformed chunk behind them, where the client has closed its half.
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

/** Whether the end of the last answer is missing, or may be, as the end of the connection is its own. */
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

/** What was received, but for the time, and for what depends on when octets came, with Node alone as well. */
function textOf({ octets }: Received, { closesHalf }: ClientScript): string {
  const text = octets
    .toString('latin1')
    .replaceAll(/\r\nDate: \w{3}, [^\r]{20} GMT(?=\r\n)/g, '\r\nDate: (now)')
    // A page has a 103 before it where no other answer is under way.
    .replaceAll(/HTTP\/1\.1 103 Early Hints\r\n(?:[^\r]+\r\n)*\r\n/g, '')
  // What is no request behind an answer under way is refused, or not where the client's end is read before.
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

/** Drops what the difference does not need: it is tried twice, as some show up now and then. */
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
  // Then it ends at once; an application would see its client go.
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
  // What Node says of what is left of these depends on how TCP cuts it.
  const isDelicate = /chunked|upgrade/i.test(lines.join(''))
  if (isDelicate) return
  if (body !== '') yield { ...request, body: '' }
  for (const index of lines.slice(1, -1).keys()) yield { ...request, lines: lines.toSpliced(index + 1, 1) }
}
