import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { exchange } from './exchange.ts'

const get = { method: 'GET', target: '/', fields: { Host: 'localhost' } }

let server: Server | undefined
let requested = ''

afterEach(() => server?.close())

/** Answers each connection with these parts, one after another, and ends it if told so. */
async function answering(parts: readonly string[], end = false): Promise<number> {
  server = createServer((socket) => {
    socket.once('data', (request) => {
      requested = request.toString()
      for (const part of parts) socket.write(part)
      if (end) socket.end()
    })
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('no port')
  return address.port
}

describe('exchange', () => {
  test('sends these fields and no others, reads a body by its length and counts every byte', async () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nVary: Accept\r\n\r\nhello'
    const answer = await exchange(await answering([text]), get)
    expect(requested).toBe('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(answer.status).toBe(200)
    expect(answer.body.toString()).toBe('hello')
    expect(answer.fields.get('vary')).toEqual(['Accept'])
    expect(answer.wireBytes).toBe(text.length)
  })

  test('puts chunks together', async () => {
    const parts = [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel',
      '\r\n2\r\nlo\r\n0\r\n\r\n',
    ]
    const answer = await exchange(await answering(parts), get)
    expect(answer.body.toString()).toBe('hello')
    expect(answer.wireBytes).toBe(parts.join('').length)
  })

  test('expects no body of a 304 and of HEAD', async () => {
    const head = 'Content-Length: 5\r\n\r\n'
    const notModified = await exchange(await answering([`HTTP/1.1 304 Not Modified\r\n${head}`]), get)
    expect(notModified.body).toHaveLength(0)
    server?.close()
    const port = await answering([`HTTP/1.1 200 OK\r\n${head}`])
    expect((await exchange(port, { ...get, method: 'HEAD' })).body).toHaveLength(0)
  })

  test.each([
    ['a body that is cut short', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel', 'aborted'],
    ['more than the body', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello', 'Parse Error'],
    ['what is no HTTP', 'SSH-2.0\r\n\r\n', 'Parse Error'],
    ['a body of no known length', 'HTTP/1.1 200 OK\r\n\r\nhello', 'neither Content-Length nor chunks'],
  ])('refuses %s', async (_, text, message) => {
    await expect(exchange(await answering([text], true), get)).rejects.toThrow(message)
  })
})
