import { readHost, splitTarget } from '../protocol/request-head.ts'

/** Where a request over plain HTTP came in, and where HTTPS is. */
export interface HttpsPlace {
  /** The port that the plain request came to. */
  readonly plainPort: number
  readonly tlsPort: number
}

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
  // Nothing that a browser could read as another host than the one that it asked.
  const { name, port, isPlain = false } = readHost(host ?? '') ?? {}
  // Of an absolute form (RFC 9112 §3.2.2) the path is taken; its host counts no more than `Host`.
  const { scheme = 'http', path, query } = splitTarget(target)
  const isFit = isPlain && port !== '' && ['http', 'https'].includes(scheme) && path.startsWith('/')
  if (!isFit) return undefined
  // Asked for at port 80 while we listen on another one, we stand behind a port mapping, and HTTPS is at 443.
  const isMapped = port === undefined && plainPort !== 80
  const authority = tlsPort === 443 || isMapped ? name : `${name}:${tlsPort}`
  return `https://${authority}${path}${query}`
}
