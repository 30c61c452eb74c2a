import type { IncomingMessage, ServerResponse } from 'node:http'
import { bareRefusal, redirectTo } from '../site/answers.ts'
import { sendAnswer } from '../send/send-answer.ts'
import { allowHosts } from './allow-hosts.ts'
import { createHttpTransport } from './create-http-transport.ts'
import { redirectToHttps } from './redirect-to-https.ts'
import type { Transport, TransportWatcher } from './transport.ts'

/** Where plain HTTP is received. */
export interface RedirectAddress {
  readonly host: string
  /** 0 picks a free one; `undefined` means nowhere. */
  readonly port: number | undefined
  /** The hosts whose requests are redirected; the default is all. */
  readonly allowHosts: readonly string[] | undefined
  readonly watcher: TransportWatcher | undefined
}

/** A listener for plain HTTP. */
export interface RedirectListener {
  readonly transport: Transport
  readonly url: string
}

/** To a request without a usable host or path. */
const badRequest = bareRefusal(400)

/**
 * Listens for plain HTTP, and redirects every request to HTTPS.
 *
 * 308 for every method (RFC 9110 §15.4.9): browsers cache it like a 301, and post a form again instead of getting it.
 *
 * @param origin - where HTTPS is served, as `listen` says it.
 * @throws OperatorError when the server cannot listen there.
 */
export async function listenForRedirects(
  origin: string,
  { host, port, allowHosts: hosts, watcher }: RedirectAddress,
): Promise<RedirectListener | undefined> {
  if (port === undefined) return undefined
  // That of a unix socket has none.
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
