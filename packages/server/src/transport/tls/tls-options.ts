import { s, type Schema } from '@serve-dist/manifest'
import type { TlsFiles } from './tls-credentials.ts'

/** How a server uses TLS. */
export interface TlsOptions extends TlsFiles {
  /** A PEM file: the server's certificate, then those between it and a root. Read again when it changes. */
  readonly cert: string
  /** A PEM file: the certificate's private key, not encrypted. Read again when it changes. */
  readonly key: string
  /**
   * A port on the same host where plain HTTP redirects every request to HTTPS; 0 picks a free one.
   * @default none: nothing listens for plain HTTP
   */
  readonly redirectPort?: number
  /**
   * How long browsers must use HTTPS for this host (RFC 6797): `1y`, `30d`, or the value of
   * `Strict-Transport-Security`. Nobody can take it back before that time is over.
   * @default none
   */
  readonly hsts?: string
}

const pemFile = s.filledText('the path of a PEM file (a certificate and its key go together)')

/** `hsts` is read as the value of the field. */
export const tlsSchema: Schema<TlsOptions> = s.optionsOf<TlsOptions>({
  cert: pemFile,
  key: pemFile,
  redirectPort: s.optional(s.portNumber),
  hsts: s.optional(s.readableBy(parseHsts)),
})

/**
 * Checks the options, and turns `hsts` into the field's value.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function resolveTlsOptions(options: TlsOptions): TlsOptions {
  return s.readOptions(tlsSchema, options)
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 }

/**
 * Reads how long browsers must use HTTPS: `1y`, `30d`, `3600s`, or the field's own value, such as
 * `max-age=63072000; includeSubDomains`.
 *
 * @returns the value of `Strict-Transport-Security` (RFC 6797 §6.1).
 * @throws TypeError when it is neither.
 */
export function parseHsts(text: string): string {
  const value = text.trim()
  const match = /^(\d{1,9})([smhdwy])$/i.exec(value)
  if (match?.[1] !== undefined)
    return `max-age=${Number(match[1]) * (units[match[2]?.toLowerCase() ?? ''] ?? 1)}`
  if (/^max-age=\d{1,12}(?:\s*;\s*(?:includeSubDomains|preload))*$/i.test(value)) return value
  throw new TypeError(
    `expected a time such as 1y or 30d, or a value such as "max-age=31536000; includeSubDomains", found "${text}"`,
  )
}
