import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { Upload } from './upload.ts'

const server = createServer()
afterAll(() => server.close())

/** Sends the head and the start of a request. */
async function receive(): Promise<{ client: ReturnType<typeof send>; request: IncomingMessage }> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const client = send({ port, host: '127.0.0.1', method: 'POST' })
  client.on('error', () => {
    // The tests end connections.
  })
  client.write('hello')
  const [request]: IncomingMessage[] = await once(server, 'request')
  if (request === undefined) throw new TypeError('no request')
  return { client, request }
}

test('keeps the rest of a body that the client has sent', async () => {
  const { client, request } = await receive()
  const upload = new Upload(request, 100, () => {})
  // Starts to read, as if the target were busy.
  upload.read(0)
  client.end()
  await once(request, 'close')
  expect(await text(upload)).toBe('hello')
  client.destroy()
})

test('fails if the client leaves', async () => {
  const { client, request } = await receive()
  const upload = new Upload(request, 100, () => {})
  upload.once('data', () => client.destroy())
  await expect(text(upload)).rejects.toThrow('the client closed the connection')
})
