import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createHttpTransport } from '../../src/transport/create-http-transport.ts'
import { formatRequest } from '../support/raw-request.ts'
import type { RequestListener, Transport } from '../../src/transport/transport.ts'

const running: Transport[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((transport) => transport.drain(0)))
})

/** Starts a listener that accepts request bodies. Returns its port. */
async function start(listener: RequestListener): Promise<number> {
  const transport = createHttpTransport(listener, { takesUploads: true })
  running.push(transport)
  transport.server.listen(0, '127.0.0.1')
  await once(transport.server, 'listening')
  const address = transport.server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

const chunked = { 'Transfer-Encoding': 'chunked' }

describe('a malformed request body that arrives during an earlier response', () => {
  test('does not truncate the earlier response', async () => {
    const large = Buffer.alloc(1_000_000, 'abcdefg')
    const answers: ServerResponse[] = []
    const port = await start((request, response) => {
      answers.push(response)
      if (request.method === 'POST') response.write('begun')
    })
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {
      // The client reads up to the reset.
    })
    const upload = formatRequest({ method: 'POST', target: '/upload', fields: chunked })
    socket.write(`${formatRequest({ target: '/' })}${upload}zz\r\n`)
    await vi.waitFor(() => expect(answers).toHaveLength(2))
    // Unread bytes make the kernel reset the connection when the server closes it.
    await new Promise((resolve) => socket.write('z'.repeat(10_000), resolve))
    const [first] = answers
    first?.end(large)
    await once(first ?? socket, 'close')
    const received = await buffer(socket)
    const begin = received.indexOf('\r\n\r\n') + 4
    expect(received.subarray(begin, begin + large.length).equals(large)).toBe(true)
    // The second response is cut off: it has no last chunk.
    expect(received.subarray(begin + large.length).toString()).toMatch(/\r\n5\r\nbegun\r\n$/)
  })
})
