import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { openConnection } from '../support/open-connection.ts'
import { sendInParts } from '../support/send-in-parts.ts'
import { startServer } from '../support/start-server.ts'

/** Sends literal text, ends its half after the response starts, and reads to the end. */
async function sendIncomplete(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk))
  socket.write(text)
  await once(socket, 'data')
  socket.end()
  await once(socket, 'close')
  return received
}

describe('a request body that ends early', () => {
  test.each([
    ['with a length, from memory', {}, 'Content-Length: 5\r\n\r\n'],
    ['with a length, streamed', { memoryBudget: 0 }, 'Content-Length: 5\r\n\r\n'],
    ['in chunks', {}, 'Transfer-Encoding: chunked\r\n\r\n5\r\nab'],
  ])('%s gets one response', async (_what, site, rest) => {
    const { port } = await startServer(await buildFixture({ 'index.html': 'page' }), { site })
    const received = await sendIncomplete(port, `GET / HTTP/1.1\r\nHost: a\r\n${rest}`)
    expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200'])
  })
})

describe('a request body that is still arriving', () => {
  test.each([
    ['from memory', {}, false],
    ['streamed', { memoryBudget: 0 }, false],
    ['of a server that stops', {}, true],
  ])('does not truncate the response, %s', async (_what, site, isStopped) => {
    const large = Buffer.alloc(4_000_000, 'abcdefg')
    const server = await startServer(await buildFixture({ 'large.bin': large }), { site })
    const connection = await openConnection(server.port)
    connection.send(
      'GET /large.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 40000\r\n\r\n',
    )
    await once(connection.socket, 'data')
    const closed = isStopped ? server.close() : undefined
    await sendInParts(connection, 40)
    const { status, body } = await connection.receive()
    expect([status, body.equals(large)]).toEqual([200, true])
    expect(await connection.rest()).toHaveLength(0)
    await closed
  })
})
