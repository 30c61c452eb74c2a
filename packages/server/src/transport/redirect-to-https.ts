/** Where a request over plain HTTP came in, and where HTTPS is. */
export interface HttpsPlace {
  /** The port that the plain request came to. */
  readonly plainPort: number
  readonly tlsPort: number
}

/**
 * A name, an IPv4 or a bracketed IPv6 address, and a port: nothing that a browser could read as another
 * host than the one that it asked.
 */
const hostForm = /^([a-z\d](?:[a-z\d._-]{0,252}[a-z\d.])?|\[[\da-f:.]{2,45}\])(:\d{1,5})?$/i

/**
 * Where a plain request is sent on to.
 *
 * @param target - as it stands in the request line.
 * @returns `undefined` where the request names no host or no path that could be sent on.
 */
export function redirectToHttps(
  host: string | undefined,
  target: string,
  { plainPort, tlsPort }: HttpsPlace,
): string | undefined {
  const [, name, port] = hostForm.exec(host ?? '') ?? []
  // Of an absolute form (RFC 9112 §3.2.2) the path is taken; its host counts no more than `Host`.
  const path =
    /^(?:https?:\/\/[^/?#]*)?([/?].*)?$/i.exec(target)?.[1] ?? (target.startsWith('http') ? '/' : undefined)
  if (name === undefined || path === undefined) return undefined
  // Asked for at port 80 while we listen on another one, we stand behind a port mapping, and HTTPS is at 443.
  const isMapped = port === undefined && plainPort !== 80
  const authority = tlsPort === 443 || isMapped ? name : `${name}:${tlsPort}`
  return `https://${authority}${path.startsWith('/') ? path : `/${path}`}`
}
