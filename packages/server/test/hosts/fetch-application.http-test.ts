import { once } from 'node:events'
import { connect, createServer } from 'node:http2'
import { expect, onTestFinished, test } from 'vitest'
import { adaptFetchHandler } from '../../src/application/node-handler.ts'

// Two answers would be an unhandled rejection, which ends the process.
test.each([
  ['has a method that `Request` changes to capitals', { ':method': 'get' }],
  ['has a method that `Request` forbids', { ':method': 'trace' }],
  ['has a scheme without a host', { ':scheme': 'file', ':authority': 'a', host: 'a:80' }],
])('a request that %s gets one answer: that of its error', async (_what, fields) => {
  const handler = adaptFetchHandler(() => new Response('page'))
  const errors: unknown[] = []
  const server = createServer((request, response) => {
    const next = (error?: unknown): void => {
      errors.push(error)
      response.writeHead(500).end()
    }
    Reflect.apply(handler, undefined, [request, response, next])
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const session = connect(`http://127.0.0.1:${port}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  const stream = session.request(fields, { endStream: true }).resume()
  const [answer] = await once(stream, 'response')
  await once(stream, 'close')
  expect([answer[':status'], errors]).toEqual([500, [expect.any(Error)]])
})
