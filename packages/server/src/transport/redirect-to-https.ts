import { readHost } from '../protocol/request-head.ts'

/** The ports of plain HTTP and of HTTPS. */
interface HttpsPlace {
  /** The port that received the plain request. */
  readonly plainPort: number
  readonly tlsPort: number
}

/**
 * The `Location` that sends a plain request to HTTPS.
 *
 * @param target - in origin form: an absolute one has given its host to `Host` by now.
 * @returns `undefined` where the request has no usable host or path.
 */
export function redirectToHttps(
  host: string | undefined,
  target: string,
  { plainPort, tlsPort }: HttpsPlace,
): string | undefined {
  // Nothing that a browser could read as another host than the one that it asked.
  const { name, port, isPlain = false } = readHost(host ?? '') ?? {}
  const isFit = isPlain && port !== '' && /^\/[^#]*$/.test(target)
  if (!isFit) return undefined
  // The client asked for port 80 but we listen on another: a mapping of ports, so HTTPS is at 443.
  const isMapped = port === undefined && plainPort !== 80
  const authority = tlsPort === 443 || isMapped ? name : `${name}:${tlsPort}`
  return `https://${authority}${target}`
}
