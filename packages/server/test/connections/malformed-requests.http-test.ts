import { once } from 'node:events'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { dialTls } from '../support/dial-tls.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { type Dial, openConnection } from '../support/open-connection.ts'
import { rawRequest } from '../support/raw-request.ts'
import { sendInParts } from '../support/send-in-parts.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const large = Buffer.alloc(2_000_000, 'abcdefg')
let server: StartedServer
let streamed: StartedServer
let encrypted: StartedServer
beforeAll(async () => {
  const directory = await buildFixture({ 'index.html': 'page', 'secret.txt': 'secret', 'large.bin': large })
  server = await startServer(directory)
  streamed = await startServer(directory, { site: { memoryBudget: 0 } })
  encrypted = await startServer(directory, { tls: await writeCertificate() })
})

const hosts: readonly (readonly [string, () => StartedServer, Dial | undefined])[] = [
  ['from memory', () => server, undefined],
  ['streamed', () => streamed, undefined],
  ['over TLS', () => encrypted, dialTls],
]

const smuggled = 'GET /secret.txt HTTP/1.1\r\nHost: a\r\n\r\n'

/** Returns the responses to literal bytes, up to the end of the connection. */
async function answersTo(octets: string): Promise<{ statuses: number[]; text: string }> {
  const connection = await openConnection(server.port)
  connection.send(octets)
  const text = (await connection.rest()).toString('latin1')
  return {
    statuses: [...text.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)].map(([, status]) => Number(status)),
    text,
  }
}

describe('an ambiguous or malformed request', () => {
  test.each([
    [
      'both a length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'both chunks and a length',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n',
    ],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n1234'],
    [
      'the same length twice',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\n1234',
    ],
    ['a list of lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 4\r\n\r\n1234'],
    ['a length with a sign', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\n1234'],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
    ['a length in hexadecimal', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x4\r\n\r\n1234'],
    ['a length that overflows', `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\n`],
    ['an empty length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n'],
    [
      'a transfer coding that is not chunked',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n',
    ],
    [
      'a transfer coding before chunked',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'chunked, but not last',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n',
    ],
    [
      'a transfer coding with a line feed',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \nchunked\r\n\r\n0\r\n\r\n',
    ],
    ['a bare line feed after the request line', 'GET / HTTP/1.1\nHost: a\r\n\r\n'],
    ['a bare line feed after a field', 'GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n'],
    ['bare line feeds alone', 'GET / HTTP/1.1\nHost: a\n\n'],
    ['a bare carriage return in a field', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n'],
    ['a folded field (obs-fold)', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n'],
    [
      'a folded transfer coding',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n',
    ],
    ['white space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['white space before the first field', 'GET / HTTP/1.1\r\n Host: a\r\n\r\n'],
    ['a NUL in a field', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n'],
    ['a field without a name', 'GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n'],
    ['a field without a colon', 'GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n'],
    ['a space in the target', 'GET / b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['another version', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a TLS handshake', '\u0016\u0003\u0001\u0002\u0000\u0001'],
    ['no Host in HTTP/1.1 (RFC 9112 §3.2)', 'GET / HTTP/1.1\r\n\r\n'],
    ['two Hosts (RFC 9112 §3.2)', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['a malformed Host', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n'],
    ['a Host whose port is no number', 'GET / HTTP/1.1\r\nHost: a:b\r\n\r\n'],
    [
      'chunks in HTTP/1.0 (RFC 9112 §6.1)',
      'POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two Hosts and an expectation', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nExpect: x\r\n\r\n'],
    ['two Hosts and 100-continue', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nExpect: 100-continue\r\n\r\n'],
    ['the same Host twice (RFC 9112 §3.2)', 'GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n'],
  ])('with %s gets one 400, and the server reads nothing after it', async (_what, request) => {
    const { statuses, text } = await answersTo(request + smuggled)
    expect(statuses).toEqual([400])
    expect(text).not.toContain('secret')
    expect(text).toMatch(/\r\nconnection: close\r\n/i)
  })

  test.each([
    ['a chunk size that is no number', 'x\r\n12345\r\n0\r\n\r\n'],
    ['a chunk size with a sign', '+5\r\n12345\r\n0\r\n\r\n'],
    ['a chunk longer than it says', '3\r\n12345\r\n0\r\n\r\n'],
    ['a chunk size that overflows', `${'f'.repeat(20)}\r\n`],
    ['a bare line feed after a chunk size', '5\n12345\r\n0\r\n\r\n'],
    ['a bare line feed in a chunk extension', '5;a\nb\r\n12345\r\n0\r\n\r\n'],
  ])('in chunks, with %s gets the response to its head, and no second one', async (_what, body) => {
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
    const { statuses, text } = await answersTo(head + body + smuggled)
    expect(statuses).toEqual([405])
    expect(text).not.toContain('secret')
  })

  test.each(hosts)('in malformed chunks does not truncate a file, %s', async (_how, serverOf, dial) => {
    const connection = await openConnection(serverOf().port, dial)
    connection.send(
      `GET /large.bin HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n${smuggled}`,
    )
    const { status, body } = await connection.receive()
    expect([status, body.equals(large)]).toEqual([200, true])
    expect(await connection.rest()).toHaveLength(0)
  })

  test('in chunks gets no second response after an earlier request', async () => {
    const connection = await openConnection(server.port)
    connection.send('GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    expect((await connection.receive()).status).toBe(200)
    connection.send('zz\r\n')
    expect(await connection.rest()).toHaveLength(0)
  })
})

test.each(['0.9', '2.0'])('HTTP/%s, which Node reads as 1.1, gets 505', async (version) => {
  const { statuses } = await answersTo(`GET / HTTP/${version}\r\nHost: a\r\n\r\n${smuggled}`)
  expect(statuses).toEqual([505])
})

describe('malformed bytes after requests', () => {
  test.each(hosts)('get their 400 after all responses, %s', async (_how, serverOf, dial) => {
    const connection = await openConnection(serverOf().port, dial)
    const request = 'GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n'
    connection.send(`${request}${request}hello\r\n\r\n`)
    const answers = [await connection.receive(), await connection.receive()]
    expect(answers.map(({ status, body }) => [status, body.equals(large)])).toEqual([
      [200, true],
      [200, true],
    ])
    expect((await connection.rest()).toString('latin1')).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('bytes after a last request', () => {
  test.each(hosts)('do not truncate its response, %s', async (_how, serverOf, dial) => {
    const connection = await openConnection(serverOf().port, dial)
    connection.send(`GET /large.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n${smuggled}`)
    await once(connection.socket, 'data')
    await sendInParts(connection, 40)
    const { status, body } = await connection.receive()
    expect([status, body.equals(large)]).toEqual([200, true])
    expect(await connection.rest()).toHaveLength(0)
  })
})

describe('a rejected request', () => {
  test('gets its response while its body is still arriving', async () => {
    const connection = await openConnection(server.port)
    connection.send('POST / HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 100000\r\n\r\n')
    await once(connection.socket, 'data')
    await sendInParts(connection, 100)
    expect((await connection.rest()).toString('latin1')).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('a head that is too large', () => {
  test.each([
    ['in one field', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`],
    ['in many fields', `GET / HTTP/1.1\r\nHost: a\r\n${'X-Field: value\r\n'.repeat(1500)}\r\n`],
    ['in the target', `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['in the name of a field', `GET / HTTP/1.1\r\nHost: a\r\n${'a'.repeat(17_000)}: b\r\n\r\n`],
  ])('%s gets 431', async (_where, request) => {
    const { statuses } = await answersTo(request)
    expect(statuses).toEqual([431])
  })

  test('does not include one below 16 KiB', async () => {
    const response = await rawRequest(server.port, { target: '/', fields: { X: 'a'.repeat(15_000) } })
    expect(response.status).toBe(200)
  })
})

test('the server still answers after all of this', async () => {
  const response = await rawRequest(server.port, { target: '/' })
  expect([response.status, response.body.toString()]).toEqual([200, 'page'])
})
