import { get } from 'node:http'
import { text } from 'node:stream/consumers'

/** Gets a path over a unix socket, on a new connection. */
export async function getOverSocket(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ socketPath, path, agent: false }, (response) => {
      text(response).then(resolve, reject)
    }).once('error', reject)
  })
}
