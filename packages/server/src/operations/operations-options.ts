import { OperatorError } from '@serve-dist/manifest'
import type { AccessLogFormat } from './access-log.ts'
import type { OpsAddress } from './ops-server.ts'
import { parseProxyTrust } from './trust-proxy.ts'
import { checkOption } from '../with-defaults.ts'

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

const names = ['accessLog', 'ops', 'trustProxy']

/**
 * Checks the options.
 *
 * @throws OperatorError that names the option, what was found and what is expected.
 */
export function checkOperationsOptions(options: OperationsOptions): OperationsOptions {
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `operations.${unknown}: unknown option; known options: ${names.join(', ')}`,
    )
  }
  // Callers without types may give anything.
  const accessLog: string | undefined = options.accessLog
  if (accessLog !== undefined && accessLog !== 'json' && accessLog !== 'common') {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `operations.accessLog: expected "json" or "common", found ${accessLog}`,
    )
  }
  const { trustProxy } = options
  if (trustProxy !== undefined) checkOption('operations.trustProxy', () => parseProxyTrust(trustProxy))
  return options
}
