import { type Fields, s, type Schema } from '@serve-dist/manifest'
import type { OpsAddress } from './ops-server.ts'
import { parseProxyTrust } from './trust-proxy.ts'

/** The format of the access log. */
export type AccessLogFormat = (typeof accessLogFormats)[number]
export const accessLogFormats: readonly ['json', 'common'] = ['json', 'common']

/** Logs, probes and metrics of a server; all are off by default. */
export interface OperationsOptions {
  /**
   * Writes one line per request to standard output, as JSON or in the Combined Log Format. Needs the
   * package `pino`.
   * @default none
   */
  readonly accessLog?: AccessLogFormat
  /**
   * The address of `/healthz`, `/readyz` and `/metrics`, separate from the public port. Needs the package
   * `prom-client`. With `'primary'`, a cluster's primary process answers and collects the metrics.
   * @default none
   */
  readonly ops?: OpsAddress | 'primary'
  /**
   * The proxies whose client addresses are logged and forwarded: their number, or a comma-separated list of addresses,
   * ranges (CIDR) and the names `loopback`, `linklocal`, `uniquelocal`.
   * @default none: the log has the address of the connection's peer
   */
  readonly trustProxy?: string | number
}

export const operationsFields: Fields<OperationsOptions> = {
  accessLog: s.optional(s.oneOf(accessLogFormats)),
  ops: s.optional(s.expecting<OpsAddress | 'primary'>('an address', () => true)),
  trustProxy: s.optional(
    s.readableBy((value: string | number) => {
      parseProxyTrust(value)
      return value
    }),
  ),
}

export const operationsSchema: Schema<OperationsOptions> = s.optionsOf(operationsFields)

/**
 * Validates the options.
 *
 * @throws OperatorError that lists each wrong option with its value and the expected values.
 */
export function checkOperationsOptions(options: OperationsOptions): OperationsOptions {
  return s.readOptions(operationsSchema, options)
}
