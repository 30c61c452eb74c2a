import type { Server } from 'node:http'

/** A server of this process on a free port. */
export interface LocalServer {
  readonly url: URL
  readonly close: () => Promise<void>
}

/** Starts a server on a free port of 127.0.0.1. */
export async function listenLocally(server: Server): Promise<LocalServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    url: new URL(`http://127.0.0.1:${address.port}/`),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
