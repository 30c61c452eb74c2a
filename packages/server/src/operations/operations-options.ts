import type { AccessLogFormat } from './access-log.ts'
import type { OpsAddress } from './ops-server.ts'
import { parseProxyTrust } from './trust-proxy.ts'
import { anything, oneOf, readableBy, readOptions } from '../read-options.ts'

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

/**
 * Checks the options.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function checkOperationsOptions(options: OperationsOptions): OperationsOptions {
  return readOptions<OperationsOptions>(
    options,
    {},
    { accessLog: oneOf('json', 'common'), ops: anything, trustProxy: readableBy(parseProxyTrust) },
  )
}
