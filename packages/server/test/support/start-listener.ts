import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { afterAll } from 'vitest'

const closers: (() => void)[] = []

afterAll(() => {
  for (const close of closers.splice(0)) close()
})

/** Starts a Node listener, such as an Express application, on a free port until the end of the test file. */
export async function startListener(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new TypeError('listens on no port')
  return address.port
}
