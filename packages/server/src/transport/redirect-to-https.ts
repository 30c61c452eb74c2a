import { readHost } from '../protocol/request-head.ts'

/** The ports of HTTP and HTTPS. */
interface HttpsPlace {
  /** The port of the plain request. */
  readonly plainPort: number
  readonly tlsPort: number
}

/**
 * Returns the `Location` on HTTPS for a plain request.
 *
 * @param target - in origin form. The host of an absolute form is in `Host` already.
 * @returns `undefined` for a request without a usable host or path.
 */
export function redirectToHttps(
  host: string | undefined,
  target: string,
  { plainPort, tlsPort }: HttpsPlace,
): string | undefined {
  // Reject hosts that browsers could interpret as another host.
  const { name, port, isPlain = false } = readHost(host ?? '') ?? {}
  const isFit = isPlain && port !== '' && /^\/[^#]*$/.test(target)
  if (!isFit) return undefined
  // The client used port 80 but this server has another: the ports are mapped, hence HTTPS is at 443.
  const isMapped = port === undefined && plainPort !== 80
  const authority = tlsPort === 443 || isMapped ? name : `${name}:${tlsPort}`
  return `https://${authority}${target}`
}
