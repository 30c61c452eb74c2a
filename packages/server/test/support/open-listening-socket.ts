import { once } from 'node:events'
import { createServer } from 'node:net'

/** A listening socket for another process. */
export interface ListeningSocket {
  readonly descriptor: number
  readonly port: number
  /**
   * Closes the socket. Call it after another process has it, because this process accepts connections until
   * then.
   */
  close(): void
}

/** Opens a listening socket like a service manager. */
export async function openListeningSocket(): Promise<ListeningSocket> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  // Node has no documented API for the descriptor.
  const handle: unknown = Reflect.get(server, '_handle')
  if (typeof handle !== 'object' || handle === null || typeof address !== 'object' || address === null) {
    throw new TypeError('listens on no descriptor')
  }
  return {
    descriptor: Number(Reflect.get(handle, 'fd')),
    port: address.port,
    close: () => void server.close(),
  }
}
