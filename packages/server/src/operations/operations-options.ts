import { type Fields, s, type Schema } from '@serve-dist/manifest'
import type { OpsAddress } from './ops-server.ts'
import { parseProxyTrust } from './trust-proxy.ts'

/** How the access log writes a line. */
export type AccessLogFormat = (typeof accessLogFormats)[number]
export const accessLogFormats: readonly ['json', 'common'] = ['json', 'common']

/** What operators see of a server: everything is off by default. */
export interface OperationsOptions {
  /**
   * A line for each request on standard output, as JSON or in the Combined Log Format; needs the package `pino`.
   * @default none
   */
  readonly accessLog?: AccessLogFormat
  /**
   * Where `/healthz`, `/readyz` and `/metrics` are answered, apart from the public port; needs the package
   * `prom-client`. `'primary'` leaves the answers to a cluster's primary process, and hands it the metrics.
   * @default none
   */
  readonly ops?: OpsAddress | 'primary'
  /**
   * Proxies to trust about the client's address in the log: how many there are, or addresses, ranges (CIDR) and the
   * names `loopback`, `linklocal`, `uniquelocal` with commas between them.
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
 * Checks the options.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function checkOperationsOptions(options: OperationsOptions): OperationsOptions {
  return s.readOptions(operationsSchema, options)
}
