import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { openConnection } from '../support/open-connection.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

/** Transfer-Encoding spellings that only some parsers read as chunked. */
const transferEncodings = [
  'Transfer-Encoding : chunked',
  'Transfer-Encoding\t: chunked',
  ' Transfer-Encoding: chunked',
  'X: y\r\n Transfer-Encoding: chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunkedx',
  'Transfer-Encoding: chunked\u0000',
  'Transfer-Encoding: \u000bchunked',
  'Transfer-Encoding: chunked\u000c',
  'Transfer-Encoding: "chunked"',
  "Transfer-Encoding: 'chunked'",
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: chunked;q=1',
  'Transfer-Encoding: chunk',
  'Transfer-Encoding:\n chunked',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: x',
  'Transfer\u00adEncoding: chunked\r\nTransfer-Encoding: x',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Content-Length: 5\r\ntransfer-encoding: CHUNKED',
  'Foo: bar\rTransfer-Encoding: chunked',
  'Foo: bar\nTransfer-Encoding: chunked',
  'Foo: bar\r\r\nTransfer-Encoding: chunked',
  'Foo\u0000: bar\r\nTransfer-Encoding: chunked',
]

/** Invalid or repeated lengths. */
const lengths = [
  'Content-Length: 5\r\nContent-Length: 0',
  'Content-Length: 0\r\nContent-Length: 5',
  'Content-Length: 0, 5',
  'Content-Length: 0\r\nContent-Length: 0',
  'Content-Length: 0,0',
  'Content-Length: +0',
  'Content-Length: -0',
  'Content-Length: 0x0',
  'Content-Length: 0 0',
  'Content-Length: 0;',
  'Content-Length: 0.0',
  'Content-Length: 1e0',
  'Content-Length: 1_0',
  'Content-Length: ',
  'Content-Length: \u000b0',
  'Content-Length : 0',
  'Content-Length\u0000: 0',
  'Content-Length: 99999999999999999999999999',
  'Content-Length: 18446744073709551616',
]

/** Invalid ends of a line or a head. */
const heads = [
  'GET / HTTP/1.1\nHost: a\n\n',
  'GET / HTTP/1.1\r\nHost: a\n\r\n',
  'GET / HTTP/1.1\rHost: a\r\r',
  'GET / HTTP/1.1\r\nHost: a\r\n\r',
  'GET / HTTP/1.1 \r\nHost: a\r\n\r\n',
  'GET /\tHTTP/1.1\r\nHost: a\r\n\r\n',
  'GET / HTTP/1.1\r\n\tHost: a\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a, b\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nX: \u0000\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n',
  'GET / HTTP/1.10\r\nHost: a\r\n\r\n',
  'GET / HTTP/01.1\r\nHost: a\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\rz\r\n\r\n',
]

const post = (fields: string) => `POST / HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`
const requests = [
  ...transferEncodings.map((fields) => `${post(fields)}0\r\n\r\n`),
  ...lengths.map(post),
  ...heads,
]

let server: StartedServer
beforeAll(async () => {
  server = await startServer(await buildFixture({ 'index.html': 'page', 'secret.txt': 'secret' }))
})

describe('a request that two parsers could end at different places', () => {
  test.each(requests)('%j gets one response, and the server reads nothing after it', async (request) => {
    const connection = await openConnection(server.port)
    connection.send(`${request}GET /secret.txt HTTP/1.1\r\nHost: a\r\n\r\n`)
    const text = (await connection.rest()).toString('latin1')
    expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual([expect.stringMatching(/^HTTP\/1\.1 4\d\d$/)])
    expect(text).toMatch(/\r\nconnection: close\r\n/i)
    expect(text).not.toContain('secret')
  })
})
