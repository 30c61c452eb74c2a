import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { buildFixture } from './testing/build-fixture.ts'
import { startServer } from './testing/start-server.ts'

/** Sends literal text, closes this half once the answer has begun, and reads to the end. */
async function breakOff(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk))
  socket.write(text)
  await once(socket, 'data')
  socket.end()
  await once(socket, 'close')
  return received
}

describe('a body that breaks off', () => {
  test.each([
    ['with a length, from memory', {}, 'Content-Length: 5\r\n\r\n'],
    ['with a length, streamed', { memoryBudget: 0 }, 'Content-Length: 5\r\n\r\n'],
    ['in chunks', {}, 'Transfer-Encoding: chunked\r\n\r\n5\r\nab'],
  ])('%s gets one answer', async (_what, site, rest) => {
    const { port } = await startServer(await buildFixture({ 'index.html': 'page' }), { site })
    const received = await breakOff(port, `GET / HTTP/1.1\r\nHost: a\r\n${rest}`)
    expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200'])
  })
})
