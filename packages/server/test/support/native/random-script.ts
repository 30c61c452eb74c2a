import { randomRequest, octetsOf, type SoakVocabulary } from '../soak/soak-request.ts'
import type { Random } from '../soak/soak-random.ts'
import { soakRefusals } from '../soak/soak-refusals.ts'
import type { ClientScript, SentRequest } from './client-script.ts'

/** Facts of a server, so that random requests often match a resource. */
export interface ScriptVocabulary extends SoakVocabulary {
  readonly dictionaries: readonly [string, ...string[]]
  /** Values of `Authorization` for a protected site. */
  readonly authorizations?: readonly [string, ...string[]]
  /**
   * Whether an application observes half-closed connections. Then clients do not close their half before the
   * responses.
   */
  readonly hasApplication: boolean
}

/** Creates a random client script: 60 % normal requests, and 40 % unusual ones, many of them malformed. */
export function randomScript(random: Random, vocabulary: ScriptVocabulary): ClientScript {
  const closesHalf = !vocabulary.hasApplication && random.chance(0.5)
  if (random.chance(0.02)) return { requests: [upgrade(random, vocabulary), last(vocabulary)], closesHalf }
  const isPipelining = random.chance(0.5)
  const requests: SentRequest[] = []
  const count = 1 + random.integer(8)
  while (requests.length < count) {
    const isPlain = random.chance(0.6)
    const octets =
      isPlain || random.chance(0.3) ? plainRequest(random, vocabulary) : validRequest(random, vocabulary)
    const isOdd = !isPlain && random.chance(0.6)
    // An incomplete request may get no response.
    requests.push(
      isOdd ? sent(random, unusualRequest(random, octets), false) : sent(random, octets, !isPipelining),
    )
  }
  return { requests: closesHalf ? requests : [...requests, last(vocabulary)], closesHalf }
}

/** Splits octets into head and body, and cuts every fifth request. */
function sent(random: Random, octets: string, awaitsAnswer: boolean): SentRequest {
  const end = octets.indexOf('\r\n\r\n')
  const head = end === -1 ? octets : octets.slice(0, end + 4)
  const cuts = random.chance(0.2)
    ? Array.from({ length: 1 + random.integer(4) }, () => 1 + random.integer(octets.length))
    : []
  return {
    lines: head.split(/(?<=\n)/),
    body: octets.slice(head.length),
    cuts: cuts.toSorted((a, b) => a - b),
    awaitsAnswer,
  }
}

/** Makes the server close afterwards. Without it, incomplete requests would wait for a timeout. */
function last({ targets: [target] }: ScriptVocabulary): SentRequest {
  const lines = [`GET ${target} HTTP/1.1\r\n`, 'Host: example.org\r\n', 'Connection: close\r\n', '\r\n']
  return { lines, body: '', cuts: [], awaitsAnswer: false }
}

/** Creates an upgrade. Nothing is sent with it because Node drops such bytes depending on TCP segments. */
function upgrade(random: Random, vocabulary: ScriptVocabulary): SentRequest {
  const [first = '', ...fields] = plainRequest(random, vocabulary).split(/(?<=\n)/)
  const protocol = random.pick(['websocket', 'h2c', 'TLS/1.2', 'h2c, websocket', ''])
  const connection = random.pick(['Upgrade', 'upgrade', 'keep-alive, Upgrade', 'close, Upgrade'])
  const octets = [first, `Upgrade: ${protocol}\r\n`, `Connection: ${connection}\r\n`, ...fields].join('')
  return sent(random, octets, true)
}

const hosts = ['example.org', 'a:8080', '127.0.0.1', 'other.example'] as const

/** Creates a request like those of browsers and programs. */
function plainRequest(random: Random, vocabulary: ScriptVocabulary): string {
  const { targets, entityTags, lastModified, dictionaries, authorizations } = vocabulary
  const lines = [`Host: ${random.pick(hosts)}`]
  const add = (probability: number, name: string, values: readonly [string, ...string[]]): void => {
    if (random.chance(probability)) lines.push(`${name}: ${random.pick(values)}`)
  }
  add(0.3, 'Connection', ['keep-alive', 'keep-alive', 'keep-alive', 'Keep-Alive', 'close'])
  add(0.3, 'User-Agent', ['Mozilla/5.0 (X11; Linux x86_64)', 'curl/8.5.0'])
  add(0.5, 'Accept', ['*/*', 'text/html,application/xhtml+xml,*/*;q=0.8', 'image/avif,image/webp,*/*;q=0.8'])
  add(0.8, 'Accept-Encoding', [
    'gzip, deflate, br, zstd',
    'gzip, deflate, br, zstd, dcb, dcz',
    'gzip, deflate, br',
    'gzip, deflate',
    'gzip',
    'br;q=1, gzip;q=0.8',
    'identity',
  ])
  add(0.4, 'Sec-Fetch-Mode', ['navigate', 'no-cors', 'cors'])
  add(0.1, 'If-None-Match', [...entityTags, `W/${random.pick(entityTags)}`])
  add(0.1, 'If-Modified-Since', [new Date(lastModified).toUTCString()])
  add(0.2, 'Available-Dictionary', dictionaries)
  if (authorizations !== undefined) add(0.9, 'Authorization', authorizations)
  const path = random.chance(0.9)
    ? random.pick(targets)
    : random.pick(['/users/1', '/none.js', '/favicon.ico'])
  const query = random.chance(0.1) ? `?v=${random.integer(9)}` : ''
  const method = random.chance(0.1) ? 'HEAD' : 'GET'
  return [`${method} ${path}${query} HTTP/1.1`, ...lines, '', ''].join('\r\n')
}

/** Fields with a meaning for some recipient, with valid and invalid values. */
const oddFields: Readonly<Record<string, readonly [string, ...string[]]>> = {
  Host: [
    'example.org',
    'EXAMPLE.org',
    'example.org:80',
    'a/b',
    'a:b',
    '',
    '[::1]',
    'xn--a',
    'a,b',
    ' a ',
    'ü',
  ],
  Connection: [
    'close',
    'CLOSE',
    'keep-alive, close',
    'close, keep-alive',
    'x',
    '',
    ',',
    'TE',
    'keep-alive;x',
  ],
  'Accept-Encoding': [
    '',
    'br;q=',
    '*',
    '*;q=0',
    'identity;q=0',
    'gzip;q=1.0000',
    'gzip,gzip',
    'ü',
    `${'a,'.repeat(200)}br`,
  ],
  'If-None-Match': ['*', '"x"', 'W/"x"', 'w/"x"', '"x', 'x"', '"x" ', '"x","y"', '""', '"\u00ff"', '', ','],
  'If-Modified-Since': ['x', '', 'Sun, 06 Nov 1994 08:49:37 GMT', 'Fri, 31 Dec 2100 23:59:59 GMT', '0'],
  'If-Match': ['*', '"x"', '', 'x'],
  'If-Unmodified-Since': ['Sun, 06 Nov 1994 08:49:37 GMT', 'Fri, 31 Dec 2100 23:59:59 GMT', 'x', ''],
  'If-Range': ['"x"', 'W/"x"', 'x', '', 'Fri, 31 Dec 2100 23:59:59 GMT'],
  Range: ['bytes=0-0', 'bytes=-1', 'bytes=9-', 'bytes=2-1', 'bytes=', 'x', '', 'bytes=0-0,2-2'],
  Expect: ['100-continue', '100-Continue', 'x', '', ',', '100-continue, x'],
  'Content-Length': ['0', '00', '+0', '-1', '0x0', '', ' 0 ', '0, 0', '0 0', '18446744073709551616', '5'],
  // Only values that are rejected with the head. Node's answer to malformed chunks depends on TCP segments.
  'Transfer-Encoding': ['xchunked', 'gzip', 'identity', 'chunked, identity', 'chunked;q=1', '"chunked"', ''],
  Upgrade: ['websocket', 'h2c', ''],
  Authorization: ['Basic YTpi', 'Basic  YTpi', 'Basic YTpi x', 'Basic YTp', 'x', ''],
  'Available-Dictionary': [':AA==:', 'x', '', '::', ':AA==:, :AA==:'],
  'HTTP2-Settings': ['AAMAAABkAARAAAAAAAIAAAAA', ''],
  TE: ['trailers', 'gzip;q=0.5', ''],
  Trailer: ['X-Trailer', 'Content-Length', ''],
  Via: ['1.1 a', 'x', ''],
  'Max-Forwards': ['0', 'x'],
  'Proxy-Connection': ['keep-alive', 'close', 'x'],
  'Keep-Alive': ['timeout=1', 'x'],
  'Sec-Fetch-Mode': ['navigate', 'Navigate', 'x', ''],
  Origin: ['https://other.example', 'null', 'x', ''],
  Accept: ['text/html', 'text/html;q=0', 'x', '', '*/*;q='],
  Cookie: ['a=b', `a=${'b'.repeat(4000)}`, '\u0080\u00ff'],
}
const oddNames = Object.keys(oddFields)

/** Creates a request with the grammar of the soak test, which includes bodies. */
function validRequest(random: Random, vocabulary: ScriptVocabulary): string {
  return octetsOf(randomRequest(random, vocabulary))
}

/** Adds unusual fields, changes line ends or octets, or returns malformed input. */
function unusualRequest(random: Random, octets: string): string {
  if (random.chance(0.06)) return random.pick(soakRefusals)[1]
  // Chunked bodies stay unchanged. See `Transfer-Encoding` above.
  if (/chunked/i.test(octets)) return octets
  const odd = random.chance(0.7) ? withOddFields(random, octets) : octets
  const ended = random.chance(0.1) ? withOddEnd(random, odd) : odd
  return random.chance(0.15) ? withOddOctet(random, ended) : ended
}

function withOddFields(random: Random, octets: string): string {
  const [first = '', ...rest] = octets.split(/(?<=\n)/)
  const added = Array.from({ length: 1 + random.integer(3) }, () => {
    const name = oddNames[random.integer(oddNames.length)] ?? 'X'
    const known = rest.find((line) => nameOf(line) === name.toLowerCase())
    const value = random.pick(oddFields[name] ?? [''])
    // A repeated field is unusual enough.
    return random.chance(0.2) ? (known ?? '') : fieldLine(random, name, value)
  })
  const kept = rest.filter(
    (line) => line === '\r\n' || random.chance(0.1) || !added.some((other) => nameOf(other) === nameOf(line)),
  )
  // Insert the fields first or between others.
  const place = random.chance(0.5) ? 0 : random.integer(Math.max(1, kept.indexOf('\r\n')))
  return [first, ...kept.slice(0, place), ...added, ...kept.slice(place)].join('')
}

function fieldLine(random: Random, name: string, value: string): string {
  const cased = random.chance(0.8) ? name : random.pick([name.toLowerCase(), name.toUpperCase()])
  if (random.chance(0.9)) return `${cased}: ${value}\r\n`
  return random.pick([
    `${cased}:${value}\r\n`,
    `${cased}:\t ${value} \t\r\n`,
    `${cased} : ${value}\r\n`,
    ` ${cased}: ${value}\r\n`,
    `${cased}: ${value}\n`,
    `${cased}: ${value}\r\n\tfolded\r\n`,
    `${cased}:: ${value}\r\n`,
    `${cased}\r\n`,
    `: ${value}\r\n`,
  ])
}

function nameOf(line: string): string {
  return (line.split(':', 1)[0] ?? '').trim().toLowerCase()
}

/** Changes the end of one line or of the head, or adds empty lines before the request. */
function withOddEnd(random: Random, octets: string): string {
  const lines = octets.split(/(?<=\n)/)
  const place = random.integer(lines.length)
  const end = random.pick(['\n', '\r', '\r\r\n', ' \r\n', '\n\r', '\r\n\r\n', '', '\u0000\r\n'])
  if (random.chance(0.3)) return random.pick(['\r\n', '\n', '\r\n\r\n', ' ', '\r']) + octets
  return lines.map((line, index) => (index === place ? line.replace(/\r\n$/, end) : line)).join('')
}

/** Adds, removes or replaces one octet. */
function withOddOctet(random: Random, octets: string): string {
  const place = random.integer(octets.length)
  const octet = random.chance(0.5)
    ? String.fromCodePoint(random.integer(256))
    : random.pick([' ', '\t', '\r', '\n', '\0', ':', '/', '#', '?', '%', ',', '"', '\u007f', '\u00ff'])
  const removed = random.integer(2)
  return octets.slice(0, place) + (random.chance(0.8) ? octet : '') + octets.slice(place + removed)
}
