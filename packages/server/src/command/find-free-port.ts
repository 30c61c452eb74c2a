import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A port of an address that nobody listens on. Workers need to be told: where each asks for any port, one
 * that starts after all others have died gets another one.
 */
export async function findFreePort(host: string): Promise<number> {
  const server = createServer().listen({ port: 0, host, exclusive: true })
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new TypeError('listening without a port')
  return address.port
}
