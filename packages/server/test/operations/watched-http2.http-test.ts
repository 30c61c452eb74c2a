import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { allowHosts } from '../../src/transport/allow-hosts.ts'
import type { Exchange } from '../../src/operations/exchange.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { observeRequests } from '../../src/operations/observe-requests.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { startTlsServer } from '../support/start-tls-server.ts'

const seen: Exchange[] = []
let client: ClientHttp2Session

beforeAll(async () => {
  const directory = await buildFixture({
    'index.html': compressibleText(5000),
    'large.bin': Buffer.alloc(16 * 1024 * 1024, 'abcdefg'),
  })
  const handle = createHandler(await loadSite(directory, { largestBody: 1e6 }))
  const { port } = await startTlsServer(
    observeRequests(allowHosts(handle, ['localhost']), {
      observers: [{ end: (exchange) => seen.push(exchange) }],
      addressOf: ({ socket }) => socket.remoteAddress ?? '',
    }),
  )
  client = connect(`https://localhost:${port}`, { rejectUnauthorized: false })
  await once(client, 'connect')
})

afterAll(() => {
  client.destroy()
})

/** Returns the next observed exchange, without its `request`. */
async function nextExchange(): Promise<object> {
  await vi.waitUntil(() => seen.length > 0)
  const [{ request, ...exchange } = { request: undefined }] = seen.splice(0)
  return { ...exchange, version: request?.httpVersion }
}

describe('an observed listener over HTTP/2', () => {
  test('reports the response', async () => {
    const stream = client.request({ ':path': '/', 'accept-encoding': 'br' })
    const body = await buffer(stream)
    expect(await nextExchange()).toMatchObject({
      address: '127.0.0.1',
      status: 200,
      coding: 'br',
      cache: 'revalidate',
      bytes: body.length,
      isAborted: false,
      version: '2.0',
    })
  })

  test('reports a stream that was reset before its end', async () => {
    const stream = client.request({ ':path': '/large.bin' })
    await once(stream, 'response')
    stream.close(8)
    expect(await nextExchange()).toMatchObject({ status: 200, isAborted: true })
  })

  test('answers another authority with 421 (RFC 9113 §8.3.1)', async () => {
    const stream = client.request({ ':path': '/', ':authority': 'evil.example' })
    const [headers] = await once(stream, 'response')
    stream.resume()
    expect(headers[':status']).toBe(421)
    expect(await nextExchange()).toMatchObject({ status: 421, isAborted: false })
  })
})
