import type { Random } from './soak-random.ts'

/** A valid request. */
export interface SoakRequest {
  readonly method: string
  readonly target: string
  readonly version: 'HTTP/1.0' | 'HTTP/1.1'
  /** Field lines in order. A name may repeat. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The body as sent, with its chunks. */
  readonly body: string
}

/** Facts of a site, so that random requests often match a resource. */
export interface SoakVocabulary {
  /** All existing targets, including redirects. */
  readonly targets: readonly [string, ...string[]]
  /** The folder of hashed assets, with a slash at both ends. */
  readonly assets: string
  readonly entityTags: readonly [string, ...string[]]
  readonly sizes: readonly [number, ...number[]]
  /** Milliseconds since the epoch. */
  readonly lastModified: number
}

type Field = readonly [name: string, value: string]

/** Creates a random request. */
export function randomRequest(random: Random, vocabulary: SoakVocabulary): SoakRequest {
  const method = random.chance(0.75)
    ? 'GET'
    : random.pick(['HEAD', 'HEAD', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'TRACE'])
  const fields: Field[] = [['Host', random.pick(['example.org', 'a:8080', '127.0.0.1', '[::1]:80'])]]
  const add = (probability: number, name: string, value: () => string): void => {
    if (random.chance(probability)) fields.push([anyCase(random, name), value()])
  }
  add(0.7, 'Accept-Encoding', () => acceptEncoding(random))
  add(0.05, 'Accept-Encoding', () => acceptEncoding(random))
  add(0.4, 'Accept', () => random.pick(acceptValues))
  add(0.3, 'Sec-Fetch-Mode', () => random.pick(['navigate', 'cors', 'no-cors', 'Navigate', 'same-origin']))
  add(0.1, 'If-Match', () => tagList(random, vocabulary))
  add(0.25, 'If-None-Match', () => tagList(random, vocabulary))
  add(0.15, 'If-Modified-Since', () => date(random, vocabulary))
  add(0.08, 'If-Unmodified-Since', () => date(random, vocabulary))
  add(0.25, 'Range', () => range(random, vocabulary))
  add(0.1, 'If-Range', () =>
    random.chance(0.5)
      ? random.pick(vocabulary.entityTags)
      : random.pick([date(random, vocabulary), `W/${random.pick(vocabulary.entityTags)}`, '"x"']),
  )
  add(0.1, 'X-Anything', () => 'x'.repeat(random.integer(2000)))

  const version = random.chance(0.03) ? 'HTTP/1.0' : 'HTTP/1.1'
  if (version === 'HTTP/1.0') add(0.5, 'Connection', () => 'keep-alive')
  else add(0.02, 'Connection', () => 'close')
  const body = version === 'HTTP/1.1' && random.chance(0.08) ? addBody(random, fields) : ''
  return { method, target: target(random, vocabulary), version, fields, body }
}

/** Formats a request. */
export function octetsOf({ method, target: text, version, fields, body }: SoakRequest): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${text} ${version}`, ...lines, '', body].join('\r\n')
}

const acceptValues = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html',
  'TEXT/HTML; q=0.2',
  'text/html;q=0',
  'text/html;q=0.000, */*',
  '*/*',
  'application/json',
  'image/avif, text/html ;level=1',
  'text/htmlx',
] as const

function target(random: Random, { targets, assets }: SoakVocabulary): string {
  const known = random.pick(targets)
  const path = random.chance(0.75)
    ? known
    : random.pick([
        `${known}x`,
        `${known}/`,
        `${known}.br`,
        `${assets}gone-Zz9yX8wV.js`,
        `${assets}gone`,
        '/users/jane.doe',
        '/app/users/jane.doe',
        '/.serve-dist/manifest.json',
        '/app/.vite/manifest.json',
        '/.env',
        '//evil.example/..',
        '/a/../small.txt',
        '/%2e%2e/etc/passwd',
        '/./small.txt',
        '/data%2Flist.json',
        '/data%5Clist.json',
        '/data\\list.json',
        '/data//list.json',
        '/%',
        '/%zz',
        '/%00',
        '/small.txt%0a',
        '/%ff',
        '/%c3%28',
        '/%ed%a0%80',
        '/index',
        `/${'a'.repeat(random.integer(4000))}`,
        `/${'%41/'.repeat(random.integer(500))}`,
      ])
  const escaped = random.chance(0.1) ? escapeSome(random, path) : path
  const query = random.chance(0.2) ? random.pick(['?', '?v=1', '?a=/../%', '??', '?next=//evil.example']) : ''
  const form = random.chance(0.04) ? random.pick(['http://example.org', 'HTTPS://user@a:1']) : ''
  return form + escaped + query
}

/** Escapes some letters of a path, which stays the same path. */
function escapeSome(random: Random, path: string): string {
  return path.replaceAll(/(?<!%|%.)[a-z]/g, (letter) => {
    if (random.chance(0.7)) return letter
    const hexadecimal = letter.charCodeAt(0).toString(16)
    return `%${random.chance(0.5) ? hexadecimal : hexadecimal.toUpperCase()}`
  })
}

function acceptEncoding(random: Random): string {
  if (random.chance(0.4)) return random.pick(['gzip, deflate, br, zstd', 'gzip, deflate, br', 'gzip', 'zstd'])
  const member = (): string => {
    const name = random.pick([
      'zstd',
      'br',
      'gzip',
      'x-gzip',
      'identity',
      '*',
      'deflate',
      'BR',
      'Gzip',
      'dcz',
    ])
    const weights = [
      '',
      '',
      ';q=0',
      ';q=1',
      '; q=0.5',
      ' ;Q=0.123',
      ';q=0.001',
      ';q=1.000',
      ';q=2',
      ';q=',
      ';x=1',
    ]
    return name + random.pick(['', ...weights])
  }
  const members = Array.from({ length: random.integer(6) }, member)
  return members.join(random.pick([',', ', ', ' ,\t', ', ,']))
}

function tagList(random: Random, { entityTags }: SoakVocabulary): string {
  if (random.chance(0.1)) return random.pick(['*', '', '"', 'x', '"a,b', '*, "x"', 'W/*'])
  const tag = (): string =>
    random.chance(0.5)
      ? random.pick(entityTags)
      : random.pick(['"x"', '"a,b"', '"a, b"', 'W/"x"', '""', `W/${random.pick(entityTags)}`, '"-gzip"'])
  return Array.from({ length: 1 + random.integer(4) }, tag).join(random.pick([',', ', ', ' , ', ', ,']))
}

function date(random: Random, { lastModified }: SoakVocabulary): string {
  if (random.chance(0.15)) {
    return random.pick(['yesterday', '0', '2026-01-01T00:00:00Z', 'Sun, 06 Nov 1994 25:00:00 GMT', ''])
  }
  const offset = random.pick([0, 0, 0, -1000, 1000, -86_400_000, 86_400_000])
  const [fixed, rfc850, asctime] = dateForms(new Date(lastModified + offset))
  return random.chance(0.7) ? fixed : random.pick([rfc850, asctime])
}

/** Returns the three date formats of RFC 9110 §5.6.7. */
function dateForms(time: Date): readonly [imf: string, rfc850: string, asctime: string] {
  const fixed = time.toUTCString()
  const [, day = '', month = '', year = '', clock = ''] = fixed.split(' ')
  const weekday = time.toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' })
  return [
    fixed,
    `${weekday}, ${day}-${month}-${year.slice(2)} ${clock} GMT`,
    `${weekday.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${clock} ${year}`,
  ]
}

function range(random: Random, { sizes }: SoakVocabulary): string {
  const size = random.pick(sizes)
  const first = random.integer(size + 2)
  return random.pick([
    'bytes=0-0',
    'bytes=0-',
    `bytes=${first}-`,
    `bytes=${first}-${first + random.integer(5000)}`,
    `bytes=${size - 1}-${size}`,
    `bytes=${size}-`,
    `bytes=-${1 + random.integer(size + 2)}`,
    'bytes=-0',
    'BYTES=1-2',
    'bytes= 1-2 ',
    'bytes=5-2',
    'bytes=0-0,2-3',
    'bytes=-',
    'bytes=a-b',
    'bytes 0-1',
    'items=0-1',
    'bytes=0-99999999999999999999',
    'bytes=99999999999999999999-',
    'bytes=00000000000000000000001-3',
  ])
}

/** Adds the fields of a body, and returns the body. */
function addBody(random: Random, fields: Field[]): string {
  // A server that skips the wrong number of bytes would read this as a request.
  const content = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(random.integer(30))
  if (random.chance(0.2)) fields.push(['Expect', '100-continue'])
  if (random.chance(0.5)) {
    fields.push(['Content-Length', String(content.length)])
    return content
  }
  fields.push(['Transfer-Encoding', 'chunked'])
  const chunk = content === '' ? '' : `${content.length.toString(16)};a="b"\r\n${content}\r\n`
  return `${chunk}0\r\n\r\n`
}

function anyCase(random: Random, name: string): string {
  return random.chance(0.8) ? name : random.pick([name.toLowerCase(), name.toUpperCase()])
}
