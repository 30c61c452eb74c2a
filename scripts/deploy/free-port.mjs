import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port that was free a moment ago, for programs that cannot say which one they took. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port of 127.0.0.1 is free')
  return address.port
}
