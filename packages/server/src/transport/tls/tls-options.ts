import { s, type Schema } from '@serve-dist/manifest'
import type { TlsFiles } from './tls-credentials.ts'

/** The TLS options of a server. */
export interface TlsOptions extends TlsFiles {
  /** A PEM file with the server's certificate, followed by its chain. Read again when it changes. */
  readonly cert: string
  /** A PEM file with the unencrypted private key. Read again when it changes. */
  readonly key: string
  /**
   * A port on the same host that redirects plain HTTP to HTTPS; 0 selects a free port.
   * @default none: the server does not listen for plain HTTP
   */
  readonly redirectPort?: number
  /**
   * How long browsers must use HTTPS for this host (RFC 6797): `1y`, `30d`, or a value of
   * `Strict-Transport-Security`. You cannot revoke this before the time is over.
   * @default none
   */
  readonly hsts?: string
}

const pemFile = s.filledText('the path of a PEM file (a certificate and its key go together)')

/** Converts `hsts` to the value of the field. */
export const tlsSchema: Schema<TlsOptions> = s.optionsOf<TlsOptions>({
  cert: pemFile,
  key: pemFile,
  redirectPort: s.optional(s.portNumber),
  hsts: s.optional(s.readableBy(parseHsts)),
})

/**
 * Validates the options and converts `hsts` to the value of the field.
 *
 * @throws OperatorError that lists each wrong option with its value and the expected values.
 */
export function resolveTlsOptions(options: TlsOptions): TlsOptions {
  return s.readOptions(tlsSchema, options)
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 }

/**
 * Parses how long browsers must use HTTPS: `1y`, `30d`, `3600s`, or a value of the field such as
 * `max-age=63072000; includeSubDomains`.
 *
 * @returns the value of `Strict-Transport-Security` (RFC 6797 §6.1).
 * @throws TypeError for any other text.
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
