import type { IncomingMessage, ServerResponse } from 'node:http'
import { allowHosts } from './allow-hosts.ts'
import { createHttpTransport } from './create-http-transport.ts'
import { type HttpsPlace, redirectToHttps } from './redirect-to-https.ts'
import type { Transport } from './transport.ts'

/**
 * Plain HTTP that answers every request with a redirect to HTTPS.
 *
 * 308 whatever the method (RFC 9110 §15.4.9): browsers keep it as they keep a 301, and a form that was
 * posted is posted again instead of becoming a GET.
 *
 * @param hosts - the only ones that are sent on; all where nothing is said.
 */
export function createRedirectTransport(tlsPort: () => number, hosts?: readonly string[]): Transport {
  const redirect = (request: IncomingMessage, response: ServerResponse): void => {
    const place: HttpsPlace = { plainPort: request.socket.localPort ?? 80, tlsPort: tlsPort() }
    const location = redirectToHttps(request.headers.host, request.url ?? '', place)
    if (location === undefined) {
      response.writeHead(400, { 'Cache-Control': 'no-store', 'Content-Length': 0 }).end()
      return
    }
    response.writeHead(308, { Location: location, 'Cache-Control': 'no-cache', 'Content-Length': 0 }).end()
  }
  return createHttpTransport(allowHosts(redirect, hosts), { takesUploads: false })
}
