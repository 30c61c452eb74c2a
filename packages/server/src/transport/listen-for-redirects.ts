import type { IncomingMessage, ServerResponse } from 'node:http'
import { bareRefusal, redirectTo } from '../site/answers.ts'
import { sendAnswer } from '../send/send-answer.ts'
import { allowHosts } from './allow-hosts.ts'
import { createHttpTransport } from './create-http-transport.ts'
import { redirectToHttps } from './redirect-to-https.ts'
import type { Transport, TransportWatcher } from './transport.ts'

/** The address for plain HTTP. */
export interface RedirectAddress {
  readonly host: string
  /** 0 selects a free port; `undefined` disables redirects. */
  readonly port: number | undefined
  /** The hosts whose requests are redirected; the default is all hosts. */
  readonly allowHosts: readonly string[] | undefined
  readonly watcher: TransportWatcher | undefined
}

/** A server for plain HTTP. */
export interface RedirectListener {
  readonly transport: Transport
  readonly url: string
}

/** The answer to a request without a usable host or path. */
const badRequest = bareRefusal(400)

/**
 * Listens for plain HTTP and redirects every request to HTTPS.
 *
 * It uses 308 for every method (RFC 9110 §15.4.9). Browsers cache it like a 301 and keep the method of a
 * form.
 *
 * @param origin - the origin of the HTTPS server, in the format of `listen`.
 * @throws OperatorError if the server cannot listen on the address.
 */
export async function listenForRedirects(
  origin: string,
  { host, port, allowHosts: hosts, watcher }: RedirectAddress,
): Promise<RedirectListener | undefined> {
  if (port === undefined) return undefined
  // The origin of a unix socket has no port.
  const tlsPort = Number(/:(\d+)$/.exec(origin)?.[1] ?? 443)
  const redirect = (request: IncomingMessage, response: ServerResponse): void => {
    const plainPort = request.socket.localPort ?? 80
    const location = redirectToHttps(request.headers.host, request.url ?? '', { plainPort, tlsPort })
    sendAnswer(response, location === undefined ? badRequest : redirectTo({ status: 308, location }, ''))
  }
  const guarded = allowHosts(redirect, hosts)
  const transport = createHttpTransport(watcher?.watch(guarded) ?? guarded, {
    takesUploads: false,
    ...(watcher !== undefined && { watcher }),
  })
  return { transport, url: `${await transport.listen({ host, port, flag: '--redirect-http' })}/` }
}
