import { OperatorError } from '@serve-dist/manifest'
import { parseHsts } from './parse-hsts.ts'
import type { TlsFiles } from './tls-credentials.ts'
import { withDefaults } from '../../with-defaults.ts'

/** How a server speaks TLS. */
export interface TlsOptions extends TlsFiles {
  /** A PEM file: the server's certificate, then those between it and a root. Read again when it changes. */
  readonly cert: string
  /** A PEM file: the certificate's private key, not encrypted. Read again when it changes. */
  readonly key: string
  /**
   * A port on the same host whose plain HTTP sends every request on to HTTPS; 0 picks a free one.
   * @default none: nothing listens for plain HTTP
   */
  readonly redirectPort?: number
  /**
   * How long browsers are to use HTTPS alone for this host (RFC 6797): `1y`, `30d`, or the value of
   * `Strict-Transport-Security`. There is no way back before that time is over.
   * @default none
   */
  readonly hsts?: string
}

/**
 * Checks what is given, and makes of `hsts` the field's value.
 *
 * @throws OperatorError that names the option, what was found and what is expected.
 */
export function resolveTlsOptions(options: TlsOptions): TlsOptions {
  const names = ['redirectPort', 'hsts']
  const { cert, key, redirectPort, hsts } = withDefaults<TlsOptions>({ cert: '', key: '' }, options, names)
  for (const [name, file] of Object.entries({ cert, key })) {
    if (typeof file !== 'string' || file === '') {
      throw new OperatorError(
        'SD_OPTION_INVALID',
        `tls.${name}: expected a PEM file, found ${JSON.stringify(file)}; a certificate and its key go together`,
      )
    }
  }
  if (
    redirectPort !== undefined &&
    !(Number.isInteger(redirectPort) && redirectPort >= 0 && redirectPort <= 65_535)
  ) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `tls.redirectPort: expected a whole number from 0 to 65535, found ${redirectPort}`,
    )
  }
  return {
    cert,
    key,
    ...(redirectPort !== undefined && { redirectPort }),
    ...(hsts !== undefined && { hsts: parseHsts(hsts) }),
  }
}
