import { readHost, splitTarget } from '../protocol/request-head.ts'

/** The ports of plain HTTP and of HTTPS. */
interface HttpsPlace {
  /** The port that received the plain request. */
  readonly plainPort: number
  readonly tlsPort: number
}

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
  // Nothing that a browser could read as another host than the one that it asked.
  const { name, port, isPlain = false } = readHost(host ?? '') ?? {}
  // From an absolute form (RFC 9112 §3.2.2) only the path is used.
  const { scheme = 'http', path, query } = splitTarget(target)
  const isFit = isPlain && port !== '' && ['http', 'https'].includes(scheme) && path.startsWith('/')
  if (!isFit) return undefined
  // The client asked for port 80 but we listen on another: a mapping of ports, so HTTPS is at 443.
  const isMapped = port === undefined && plainPort !== 80
  const authority = tlsPort === 443 || isMapped ? name : `${name}:${tlsPort}`
  return `https://${authority}${path}${query}`
}
