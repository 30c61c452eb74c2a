import { once } from 'node:events'
import { createServer } from 'node:net'

/** A socket that listens, to be handed over. */
export interface ListeningSocket {
  readonly descriptor: number
  readonly port: number
  /** To be called once another process has it: as long as it is open here, this process takes connections. */
  close(): void
}

/** Opens a socket as a service manager does. */
export async function openListeningSocket(): Promise<ListeningSocket> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  // Node's documents know no way to the descriptor.
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
