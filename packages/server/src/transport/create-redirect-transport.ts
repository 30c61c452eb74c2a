import type { IncomingMessage, ServerResponse } from 'node:http'
import { allowHosts } from './allow-hosts.ts'
import { bareRefusal, redirectTo } from '../site/answers.ts'
import { createHttpTransport } from './create-http-transport.ts'
import { type HttpsPlace, redirectToHttps } from './redirect-to-https.ts'
import type { Transport, TransportWatcher } from './transport.ts'
import { sendAnswer } from '../send/send-answer.ts'

/** How requests are sent on. */
export interface RedirectTransportOptions {
  /** The only ones that are sent on; all where there is none. */
  readonly hosts: readonly string[] | undefined
  readonly watcher: TransportWatcher | undefined
}

/** To a request that names no host or no path that could be sent on. */
const noPlace = bareRefusal(400)

/**
 * Plain HTTP that answers every request with a redirect to HTTPS.
 *
 * 308 whatever the method (RFC 9110 §15.4.9): browsers keep it as they keep a 301, and a form that was
 * posted is posted again instead of becoming a GET.
 *
 * @param tlsPort - where HTTPS is.
 */
export function createRedirectTransport(
  tlsPort: number,
  { hosts, watcher }: RedirectTransportOptions,
): Transport {
  const redirect = (request: IncomingMessage, response: ServerResponse): void => {
    const place: HttpsPlace = { plainPort: request.socket.localPort ?? 80, tlsPort }
    const location = redirectToHttps(request.headers.host, request.url ?? '', place)
    sendAnswer(response, location === undefined ? noPlace : redirectTo({ status: 308, location }, ''))
  }
  const listener = allowHosts(redirect, hosts)
  return createHttpTransport(watcher?.watch(listener) ?? listener, {
    takesUploads: false,
    ...(watcher !== undefined && { watcher }),
  })
}
