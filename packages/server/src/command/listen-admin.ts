import { createServer, type ServerResponse } from 'node:http'
import { isAbsolute } from 'node:path'
import { ListenError } from '../transport/listen-error.ts'
import { longestSocketPath } from '../transport/longest-socket-path.ts'
import type { ReloadOutcome } from '../load/open-site-store.ts'
import { removeStaleSocket } from '../transport/remove-stale-socket.ts'

/**
 * Listens for operators on a unix socket that nobody but this user (and root) can open.
 *
 * `POST /reload` answers with the outcome as JSON: 200, or 422 when the build is refused.
 *
 * @throws ListenError when the socket cannot be had.
 */
export async function listenAdmin(
  name: string,
  reload: () => Promise<ReloadOutcome>,
): Promise<{ close(): Promise<void> }> {
  // Node would take digits for a port of all addresses.
  const socket = isAbsolute(name) ? name : `./${name}`
  if (name === '' || Buffer.byteLength(socket) > longestSocketPath) {
    throw new ListenError(
      `cannot make "${name}": a socket's path has 1 to ${longestSocketPath} bytes; choose another one with --admin-socket`,
    )
  }
  await removeStaleSocket(socket, '--admin-socket')
  const server = createServer((request, response) => {
    // Nothing that is sent is wanted.
    request.resume()
    if (request.url !== '/reload') send(response, 404, { problems: ['there is only /reload'] })
    else if (request.method !== 'POST') {
      response.setHeader('Allow', 'POST')
      send(response, 405, { problems: ['reloading is asked for with POST'] })
    } else {
      void reload().then((outcome) => send(response, outcome.status === 'refused' ? 422 : 200, outcome))
    }
  })
  await new Promise<void>((done, fail) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      fail(
        new ListenError(
          `cannot listen on ${socket} (${cause.message}); choose another path with --admin-socket`,
          {
            cause,
          },
        ),
      )
    })
    // Made with its permissions, so that there is no moment with more; it is made within this call.
    const before = process.umask(0o177)
    try {
      server.listen(socket, done)
    } finally {
      process.umask(before)
    }
  })
  return {
    async close() {
      await new Promise((done) => {
        server.close(done)
        server.closeAllConnections()
      })
    },
  }
}

function send(response: ServerResponse, status: number, content: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  response.end(`${JSON.stringify(content)}\n`)
}
