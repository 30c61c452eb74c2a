import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { hashSync } from 'bcryptjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PeerServer } from '../../../../e2e/src/start-peer-server.ts'
import { findProgram } from '../../../../scripts/find-program.mjs'
import { buildFixture } from '../support/build-fixture.ts'
import { freePort } from '../support/free-port.ts'
import { type NginxPair, nginxPairs, type Places } from '../support/nginx-pairs.ts'
import { openConnection } from '../support/open-connection.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { formatRequest } from '../support/raw-request.ts'
import { runNginx } from '../support/run-nginx.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'
import { type ReceivedRequest, startTarget, type Target } from '../support/start-target.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const nginx = await findProgram('nginx')
const isRequired = process.platform === 'linux' && process.env['CI'] !== undefined

const files = {
  'index.html': '<p>page',
  'docs/index.html': '<p>docs',
  'maintenance.html': '<p>back soon',
  '50x.html': '<p>sorry',
  'robots.txt': 'User-agent: *\n',
  'logo.png': 'pixels',
  'assets/app-12345678.js': 'script()',
  '.well-known/security.txt': 'contact',
  'api/users': 'a file',
}
const build = {
  appType: 'spa',
  assetsDirectory: 'assets',
  isHashed: (name: string) => name.includes('-12345678'),
} as const

const reply = (status: string, fields: readonly string[] = [], body = 'ok'): string =>
  [`HTTP/1.1 ${status}`, `Content-Length: ${body.length}`, ...fields, '', body].join('\r\n')
const redirect = (location: string): string => reply('302 Found', [`Location: ${location}`], '')
const json = 'Content-Type: application/json'

/** The answers of the target by the last segment of the path. */
const replies: Readonly<Record<string, string>> = {
  created: reply('201 Created', ['Location: /api/users/7', json], '{}'),
  missing: reply('404 Not Found', [json], '{"error":"unknown"}'),
  failing: reply('500 Internal Server Error', [json], '{"error":"own"}'),
  none: 'HTTP/1.1 204 No Content\r\nX-Own: 1\r\n\r\n',
  unchanged: 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nCache-Control: private\r\n\r\n',
  part: reply('206 Partial Content', ['Content-Range: bytes 0-1/9', 'Content-Type: text/plain']),
  chunked:
    'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n',
  endless: 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nuntil the end',
  cookies: reply('200 OK', ['Set-Cookie: a=b; Path=/; HttpOnly', 'Set-Cookie: c=d; Path=/api']),
  typed: reply('200 OK', [json, 'ETag: "a"', 'Cache-Control: max-age=5', 'Vary: Origin'], '{"a":1}'),
  encoded: reply('200 OK', ['Content-Type: text/plain', 'Content-Encoding: x-own']),
  'own-fields': reply('200 OK', [
    'X-Own: 1',
    'x-own: 2',
    'X-Powered-By: php',
    'Server: own',
    'Cache-Control: public',
    'X-Accel-Buffering: no',
  ]),
  'hop-by-hop': reply('200 OK', [
    'Connection: X-Gone',
    'X-Gone: 1',
    'Keep-Alive: timeout=9',
    'Proxy-Authenticate: x',
    'Trailer: x',
    'Date: Thu, 01 Jan 1970 00:00:00 GMT',
  ]),
  'redirect-relative': redirect('/api/next?a'),
  'redirect-own': redirect('http://TARGET/api/next?a'),
  'redirect-v1': redirect('http://TARGET/v1/next?a'),
  'redirect-else': redirect('https://else.example/api/next'),
  'redirect-client': redirect('http://PAIR/api/next'),
  'long-head': `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(70_000)}\r\nContent-Length: 2\r\n\r\nok`,
  socket:
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
}

/** Differences that any request may have, by the row of docs/migrate/nginx.md that names them. */
const ofManyRequests: Readonly<Record<string, readonly RegExp[]>> = {
  'entity tags': [/^answer etag: "\\"[\da-f]+-[\da-f]+\\"", /],
  // In most runs, both times are in the same second.
  'Last-Modified': [/^answer last-modified: "[^"]+ GMT", not "/],
  'a page': [/^answer cache-control: undefined, not "no-cache"$/],
  'a hashed file': [/^answer cache-control: undefined, not "public, max-age=31536000, immutable"$/],
  'a text file': [
    /^answer content-type: "(text\/\w+)", not "\1; charset=utf-8"$/,
    /^answer content-type: "application\/javascript", not "text\/javascript; charset=utf-8"$/,
    /^answer x-content-type-options: undefined, not "nosniff"$/,
    /^answer accept-ranges: undefined, not "bytes"$/,
  ],
  'a route of the application': [/^answer vary: undefined, not "Accept, Sec-Fetch-Mode"$/],
  'a compressible answer of the API': [
    /^answer vary: (?:undefined|"Origin"), not "(?:Origin, )?Accept-Encoding"$/,
  ],
  'an error': [
    /^body: "<html>.*<h1>(\d{3}) .*", not "\1 [\w ]+\\n"$/,
    // The page of the build, which `curl` also gets.
    /^body: "<html>.*<h1>504 .*", not "<p>sorry"$/,
    /^body: "<p>sorry", not "50[24] [\w ]+\\n"$/,
    /^answer content-type: "text\/html", not "text\/plain; charset=utf-8"$/,
    /^answer cache-control: undefined, not "no-store"$/,
    /^answer allow: undefined, not /,
    /^answer retry-after: undefined, not "60"$/,
    /^answer www-authenticate: "(Basic realm=\\"Restricted\\")", not "\1, charset=\\"UTF-8\\""$/,
  ],
  'a redirect': [
    /^answer location: "http:\/\/pair\d+\.example:\d+(\/.*)", not "\1"$/,
    /^body: "<html>.*<h1>30\d .*", not ""$/,
    /^answer content-type: "text\/html", not undefined$/,
  ],
}

const firstEvent =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n'

/** Differences of the requests that `nginxPairs` lists, by the row of the page. */
const ofFewRequests: Readonly<Record<string, RegExp>> = {
  '/api with a rule for /api/*': /^status: "(?:301", not "200|200", not "301)"\n/,
  '/authors with location /auth': /^body: "ok", not "<p>page"\nrequests: 1, not 0\n/,
  'a dot segment below a prefix': /^status: "200", not "400"\n/,
  'the path below a replaced prefix': /^target line: "GET \S+ HTTP\/1.1", not "GET \S+ HTTP\/1.1"$/,
  'hop-by-hop fields, Proxy-*, Trailer, Forwarded':
    /^(?:(?:answer|target) (?:x-gone|proxy-[a-z]+|trailer|forwarded): ".*", not undefined\n?)+$/,
  'X-Forwarded-For of a client': /^target x-forwarded-for: "192.0.2.1, 127.0.0.1", not "127.0.0.1"$/,
  'X-Forwarded-For, with set_real_ip_from':
    /^target x-forwarded-for: "(.*, )192.0.2.1", not "\1(?:127.0.0.1)"$/,
  'HTTP/1.0 and no X-Forwarded-*, without these lines':
    /^target line: .*1\.0", not .*1\.1"\n(?:target x-(?:forwarded-\w+|real-ip): .*\n?){4}$/,
  'a port in Host, with $host':
    /^(?:target (?:x-forwarded-)?host: "pair\d+\.example", not "pair\d+\.example:8080"\n?){2}$/,
  'a field such as with_underscore': /^target with_underscore: undefined, not "1"$/,
  'a body of unknown length':
    /^target content-length: "\d+", not undefined\ntarget transfer-encoding: undefined, not "chunked"$/,
  'POST without a body': /^target content-length: undefined, not "0"$/,
  'OPTIONS, with if and return 204':
    /^(?:status: "204", not "200"\n|answer access-control-max-age: undefined, not "86400"$)/,
  'OPTIONS of a file': /^status: "405", not "204"\n/,
  'a missing hashed file, with try_files $uri @api': /^status: "200", not "404"\n/,
  'a missing image': /^status: "200", not "404"\n/,
  'a fetch of a route': /^status: "200", not "404"\n/,
  'a folder without its slash': /^status: "301", not "308"$/,
  'the query of a redirect by return': /^answer location: "[^?]*", not ".*\?.*"$/,
  'another method of a redirect': /^status: "30[18]", not "405"\n/,
  'a program during maintenance': /^body: "<p>back soon", not ""$/,
  '//api/x, /assets//app.js': /^status: "200", not "404"\n/,
  '%FF or %0A in a path, or ü without escapes': /^status: "200", not "400"\n/,
  'POST of a health path': /^status: "200", not "405"\n/,
}

interface Observation {
  readonly answer: RawResponse
  readonly interim: readonly number[]
  readonly received: readonly ReceivedRequest[]
}

interface ParsedRequest {
  readonly method: string
  readonly target: string
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
}

function parseRequest(text: string, host: string): ParsedRequest {
  const form = /^(\S+) (\S+)(?: \{(\w[\w-]*:.*?)\})?(?: (.*))?$/s
  const [, method = '', target = '', listed = '', body = ''] = form.exec(text.replaceAll('PAIR', host)) ?? []
  const fields = listed === '' ? [] : listed.split(' | ').map(splitField)
  const isChunked = fields.some(([name]) => name === 'Transfer-Encoding')
  const length = isChunked || body === '' ? {} : { 'Content-Length': String(body.length) }
  return {
    method,
    target,
    body,
    fields: { Host: host, Connection: 'close', ...length, ...Object.fromEntries(fields) },
  }
}

function hostOf(title: string): string {
  return `pair${Object.keys(nginxPairs).indexOf(title)}.example`
}

function splitField(line: string): readonly [string, string] {
  const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? []
  return [name, value]
}

async function observe(port: number, request: ParsedRequest, target: Target): Promise<Observation> {
  const before = target.requests.length
  const interim: number[] = []
  const connection = await openConnection(port)
  try {
    connection.send(formatRequest(request) + request.body)
    for (;;) {
      const answer = await connection.receive(request.method)
      const received = (): readonly ReceivedRequest[] => target.requests.slice(before)
      if (answer.status >= 200) return { answer, interim, received: received() }
      if (answer.status === 101) {
        connection.send('hello')
        return { answer: { ...answer, body: await connection.rest() }, interim, received: received() }
      }
      interim.push(answer.status)
    }
  } finally {
    connection.socket.destroy()
  }
}

/** They describe the connection, or the time. nginx hides the target's `Server`. */
const ofConnection = new Set(['connection', 'date', 'keep-alive', 'server'])
/** The bodies of answers are compared. */
const ofBody = new Set(['content-length', 'transfer-encoding'])

function describeObservation({ answer, interim, received }: Observation): ReadonlyMap<string, unknown> {
  const facts = new Map<string, unknown>([
    ['status', [...interim, answer.status].join(' ')],
    ['body', answer.body.toString('latin1')],
    ['requests', received.length],
  ])
  const note = (where: string, fields: readonly (readonly [string, string])[]): void => {
    for (const [written, value] of fields) {
      const name = written.toLowerCase()
      const key = `${where} ${name}`
      if (ofConnection.has(name) || (where === 'answer' && ofBody.has(name))) continue
      facts.set(key, facts.has(key) ? `${String(facts.get(key))} & ${value}` : value)
    }
  }
  note('answer', answer.fields)
  for (const { line, lines, body } of received) {
    facts.set('target line', line)
    facts.set('target body', body)
    note('target', lines.map(splitField))
  }
  return facts
}

/** Returns the differences, except for `ofManyRequests`: one line for each fact. */
function differencesOf(theirs: Observation, ours: Observation): string {
  const [left, right] = [describeObservation(theirs), describeObservation(ours)]
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((key) => left.get(key) !== right.get(key))
    .map((key) => `${key}: ${JSON.stringify(left.get(key))}, not ${JSON.stringify(right.get(key))}`)
    .filter((line) => !Object.values(ofManyRequests).some((forms) => forms.some((form) => form.test(line))))
    .join('\n')
}

function answerOf({ line, values }: ReceivedRequest, socket: Socket, api: string): void {
  const [, name = ''] = /\/([\w-]*)(?:\?\S*)? HTTP/.exec(line) ?? []
  if (name === 'silent') return
  if (name === 'closes') return void socket.end()
  const text = (replies[name] ?? reply('200 OK'))
    .replace('TARGET', api)
    .replace('PAIR', values('X-Forwarded-Host')[0] ?? '')
  if (name === 'socket') {
    socket.removeAllListeners('data')
    socket.once('data', (chunk) => socket.end(chunk))
  }
  socket.write(line.startsWith('HEAD') ? text.slice(0, text.indexOf('\r\n\r\n') + 4) : text, 'latin1')
  if (name === 'endless') socket.end()
}

describe.skipIf(nginx === undefined && !isRequired)('nginx and serve-dist', () => {
  const page = readFileSync(new URL('../../../../docs/migrate/nginx.md', import.meta.url), 'utf8')
  let configuration: string
  let port: number
  let places: Places
  let target: Target
  let onSocket: Target
  let streaming: Target
  let directory: string
  let peer: PeerServer
  beforeAll(async () => {
    port = await freePort()
    const own = await temporaryDirectory()
    directory = await buildFixture(files, build)
    const adminFiles = { 'index.html': '<p>admin', 'logo.svg': '<svg/>' }
    const admin = await buildFixture(adminFiles, { ...build, base: '/admin/' })
    const credentials = `anna:${hashSync('secret', 4)}`
    const [socket, htpasswd] = [join(own, 'api.sock'), join(own, 'htpasswd')]
    await writeFile(htpasswd, credentials)
    const answer: Parameters<typeof startTarget>[0] = (request, connection) =>
      answerOf(request, connection, places.api)
    target = await startTarget(answer)
    onSocket = await startTarget(answer, { path: socket })
    streaming = await startTarget((_request, connection) => void connection.write(firstEvent))
    places = {
      api: `127.0.0.1:${target.port}`,
      socket,
      down: '127.0.0.1:1',
      credentials,
      htpasswd,
      admin,
    }
    const serverOf = (host: string, lines: string): string =>
      `server { listen 127.0.0.1:${port}; server_name ${host}; root ${directory}; ${lines} }`
    configuration = [
      ...Object.entries(nginxPairs).map(
        ([title, { http, lines }]) => `${http?.(places) ?? ''} ${serverOf(hostOf(title), lines(places))}`,
      ),
      serverOf('stream.example', `location / { proxy_pass ${streaming.url}; proxy_buffering off; }`),
    ].join('\n')
    peer = await runNginx(nginx ?? 'nginx', port, configuration)
  })
  afterAll(async () => {
    await peer.stop()
  })

  async function start(pair: NginxPair): Promise<StartedServer> {
    const { rules, environment, trustProxy, hasSecondBuild = false } = pair
    return await startServer(hasSecondBuild ? undefined : directory, {
      site: { rules: rules(places), environment: environment?.(places) ?? {} },
      ...(trustProxy !== undefined && { operations: { trustProxy } }),
      ...(hasSecondBuild && { directory: [directory, places.admin] }),
    })
  }

  test.each(Object.entries(nginxPairs))('differ for %s only as the page says', async (title, pair) => {
    const server = await start(pair)
    const seen = title.includes('unix:') ? onSocket : target
    const rows = Object.entries(pair.differs ?? {})
    const found: (readonly [row: string, request: string])[] = []
    for (const text of pair.requests) {
      const request = parseRequest(text, hostOf(title))
      const theirs = await observe(port, request, seen)
      const facts = differencesOf(theirs, await observe(server.port, request, seen))
      const [row = ''] = rows.find(([, requests]) => requests.includes(text)) ?? []
      const isNamed = ofFewRequests[row]?.test(facts) ?? false
      if (facts !== '') found.push([isNamed ? row : facts, text])
    }
    const expected = rows.flatMap(([row, requests]) => requests.map((text) => [row, text]))
    expect(found.map(String).toSorted()).toEqual(expected.map(String).toSorted())
  })

  test('pass on each part of an event stream at once', async () => {
    const redirects = [{ from: '/*', to: streaming.url, status: 200, force: true }] as const
    const server = await startServer(directory, { site: { rules: { redirects } } })
    for (const each of [port, server.port]) {
      const { socket } = await openConnection(each)
      socket.write(formatRequest({ target: '/events', fields: { Host: 'stream.example' } }))
      let received = ''
      while (!received.includes('one')) received += String((await once(socket, 'data'))[0])
      socket.destroy()
      expect(received).toMatch(/\r\n\r\n(?:3\r\n)?one/)
    }
    await streaming.allClosed()
  })

  test('get 200 requests with 20 configurations', () => {
    const pairs = Object.values(nginxPairs)
    expect(pairs.length).toBeGreaterThan(20)
    expect(pairs.flatMap(({ requests }) => requests).length).toBeGreaterThan(200)
  })

  test('have differences that the page names', () => {
    const cells = new Set(
      Array.from(page.matchAll(/^\| (.+?) +\|/gm), ([, cell = '']) => cell.replaceAll('`', '')),
    )
    const named = [...Object.keys(ofManyRequests), ...Object.keys(ofFewRequests)]
    expect(named.filter((name) => !cells.has(name))).toEqual([])
  })

  test('are compared for each directive for which the page names this file', () => {
    const rows = Array.from(
      page.matchAll(/^\| (.+?) +\| .*`nginx\.http-test\.ts` +\|$/gm),
      ([, cell = '']) => cell,
    )
    const directives = rows.flatMap((cell) =>
      Array.from(cell.matchAll(/`([a-z_]{2,})/g), ([, name = '']) => name),
    )
    expect(new Set(directives).size).toBeGreaterThan(20)
    const compared = Object.keys(nginxPairs).join('\n') + configuration
    expect(directives.filter((name) => !compared.includes(name))).toEqual([])
  })
})
