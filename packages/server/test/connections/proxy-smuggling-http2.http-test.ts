import { describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { endHeaders, endStream, frameTypes, openRawHttp2 } from '../support/open-raw-http2.ts'
import { startServer } from '../support/start-server.ts'
import { startTarget } from '../support/start-target.ts'

const stolen = 'GET /api/stolen HTTP/1.1\r\nHost: a\r\n\r\n'

/** Fields that a target could read as another length, or as another request. */
const fields: readonly Readonly<Record<string, string>>[] = [
  { 'transfer-encoding': 'chunked' },
  { 'transfer-encoding': 'chunked', 'content-length': String(stolen.length) },
  { connection: 'transfer-encoding' },
  { 'content-length': '0' },
  { 'content-length': '1' },
  { 'content-length': '1000' },
  { 'content-length': `0, ${stolen.length}` },
  { 'content-length': `+${stolen.length}` },
  { 'content-length': `${stolen.length}\r\nTransfer-Encoding: chunked` },
  { x: `a\r\n\r\n${stolen}` },
  { x: 'a\nTransfer-Encoding: chunked' },
  { x: 'a\rTransfer-Encoding: chunked' },
  { x: 'a\0' },
  { 'x: a\r\ntransfer-encoding': 'chunked' },
  { 'transfer-encoding ': 'chunked' },
  { 'Transfer-Encoding': 'chunked' },
  { 'x:y': 'a' },
  { ':path': `/api/x HTTP/1.1\r\nHost: a\r\n\r\n${stolen}` },
  { ':path': '/api/x y' },
  { ':method': `GET /api/stolen HTTP/1.1\r\nHost: a\r\n\r\nGET` },
  { ':method': 'GET /api/stolen' },
  { ':authority': `a\r\n\r\n${stolen}` },
  { ':scheme': `https\r\n\r\n${stolen}` },
]

describe('a request over HTTP/2 that a target could read as two', () => {
  test.each(fields)('%j reaches the target as one or not at all', async (given) => {
    const target = await startTarget()
    const redirects = [{ from: '/api/*', to: target.url, status: 200, force: true }] as const
    const { port } = await startServer(await buildFixture({ 'index.html': 'page' }), {
      tls: await writeCertificate(),
      site: { rules: { redirects } },
    })
    const wrong = await openRawHttp2(port)
    wrong.request(1, { ':method': 'POST', ':path': '/api/x', ...given }, endHeaders)
    wrong.send({ type: frameTypes.data, flags: endStream, stream: 1, payload: Buffer.from(stolen) })
    const next = await openRawHttp2(port)
    // The refusal, or the end of the connection.
    await wrong.find(({ type, stream }) => stream === 1 && type !== frameTypes.windowUpdate).catch(() => {})
    next.request(1, { ':path': '/api/next' })
    await next.find(({ type, flags }) => type === frameTypes.data && (flags & endStream) !== 0)
    const last = target.requests.at(-1)
    expect(last?.line).toBe('GET /api/next HTTP/1.1')
    // Node drops an invalid field, the native engine refuses the request.
    for (const { line, lines, body, values } of target.requests.slice(0, -1)) {
      expect([line, body]).toEqual(['POST /api/x HTTP/1.1', stolen])
      expect(values('Transfer-Encoding')).toEqual(['chunked'])
      expect(lines.filter((each) => /^x[: ]|stolen|\0/i.test(each))).toEqual([])
    }
    expect(target.requests.length).toBeLessThanOrEqual(2)
    for (const { socket } of [wrong, next]) socket.destroy()
  })
})
