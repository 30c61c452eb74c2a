/** The ports of plain HTTP and of HTTPS. */
export interface HttpsPlace {
  /** The port that received the plain request. */
  readonly plainPort: number
  readonly tlsPort: number
}

/**
 * A name, an IPv4 or a bracketed IPv6 address, and a port: nothing that a browser could take for another host.
 */
const hostForm = /^([a-z\d](?:[a-z\d._-]{0,252}[a-z\d.])?|\[[\da-f:.]{2,45}\])(:\d{1,5})?$/i

/**
 * The `Location` that sends a plain request to HTTPS.
 *
 * @param target - as it stands in the request line.
 * @returns `undefined` where the request has no usable host or path.
 */
export function redirectToHttps(
  host: string | undefined,
  target: string,
  { plainPort, tlsPort }: HttpsPlace,
): string | undefined {
  const [, name, port] = hostForm.exec(host ?? '') ?? []
  // From an absolute form (RFC 9112 §3.2.2) only the path is used.
  const path =
    /^(?:https?:\/\/[^/?#]*)?([/?].*)?$/i.exec(target)?.[1] ?? (target.startsWith('http') ? '/' : undefined)
  if (name === undefined || path === undefined) return undefined
  // The client asked for port 80 but we listen on another: a mapping of ports, so HTTPS is at 443.
  const isMapped = port === undefined && plainPort !== 80
  const authority = tlsPort === 443 || isMapped ? name : `${name}:${tlsPort}`
  return `https://${authority}${path.startsWith('/') ? path : `/${path}`}`
}
