import type { ServingRules } from '@serve-dist/manifest'
import { type Command, Option } from 'commander'
import type { AccessLogFormat } from '../operations/access-log.ts'
import { createHostMatcher } from '../transport/allow-hosts.ts'
import { commandArgument } from './command-argument.ts'
import type { OpsAddress } from '../operations/ops-server.ts'
import { repeatable } from './repeatable.ts'
import type { ServeOptions } from '../serve/serve-options.ts'
import { parseProxyTrust } from '../operations/trust-proxy.ts'

/** What the command line gave about operating. */
export interface OperationsFlags {
  readonly accessLog?: AccessLogFormat
  /** In a worker, what its primary is to answer. */
  readonly ops?: OpsAddress | 'primary'
  readonly trustProxy?: string
  readonly allowHost?: readonly string[]
  readonly cors?: readonly string[]
  readonly sourceMaps?: 'serve' | 'deny'
}

/** Adds the options about operating to the command. */
export function addOperationsOptions(program: Command): Command {
  const parseHosts = commandArgument((text) => {
    const names = text.split(',').map((name) => name.trim())
    createHostMatcher(names)
    return names
  })
  return program
    .addOption(
      new Option('--access-log <format>', 'a line for each request on standard output (needs pino)')
        .choices(['json', 'common'])
        .env('ACCESS_LOG'),
    )
    .addOption(
      new Option(
        '--ops <address>',
        'answer /healthz, /readyz and /metrics there, such as 127.0.0.1:9090 or :9090 for all addresses (needs prom-client)',
      )
        .env('OPS')
        .argParser(commandArgument(parseOpsAddress)),
    )
    .addOption(
      new Option(
        '--trust-proxy <list>',
        'proxies that are believed about the client for the log: how many, or addresses, ranges, loopback, linklocal, uniquelocal',
      )
        .env('TRUST_PROXY')
        .argParser(
          commandArgument((text) => {
            parseProxyTrust(text)
            return text
          }),
        ),
    )
    .addOption(
      new Option(
        '--allow-host <names>',
        'hosts that are served, such as example.com,*.example.com; repeatable',
      )
        .env('ALLOW_HOST')
        .argParser((text: string, earlier: readonly string[] | undefined) => [
          ...(earlier ?? []),
          ...parseHosts(text),
        ]),
    )
    .option('--cors <glob>', 'files that pages of every other origin may use; repeatable', repeatable)
    .addOption(
      new Option('--source-maps <what>', 'answer source maps, or act as if there were none (default: serve)')
        .choices(['serve', 'deny'])
        .env('SOURCE_MAPS'),
    )
}

/** What the flags ask of a server. */
export function operationsOf({
  accessLog,
  ops,
  trustProxy,
  allowHost,
}: OperationsFlags): Pick<ServeOptions, 'operations' | 'allowHosts'> {
  return {
    operations: {
      ...(accessLog !== undefined && { accessLog }),
      ...(ops !== undefined && { ops }),
      ...(trustProxy !== undefined && { trustProxy }),
    },
    ...(allowHost !== undefined && { allowHosts: allowHost }),
  }
}

/** The rules with those of the flags: globs add up. */
export function withOperationsFlags(
  rules: ServingRules,
  { cors = [], sourceMaps }: OperationsFlags,
): ServingRules {
  return {
    ...rules,
    cors: [...(rules.cors ?? []), ...cors],
    ...(sourceMaps !== undefined && { sourceMaps }),
  }
}

/** `host:port`, `[::1]:9090`, `:9090` or `*:9090` for all addresses, or a port alone for this machine. */
export function parseOpsAddress(text: string): OpsAddress {
  const [, bracketed, name, separator, port = ''] =
    /^(?:(?:\[([\da-f:.]+)\]|([^:[\]]*))(:))?(\d{1,5})$/i.exec(text) ?? []
  if (port === '' || Number(port) > 65_535) {
    throw new TypeError('expected host:port, such as 127.0.0.1:9090, or :9090 for all addresses')
  }
  const host = bracketed ?? name ?? ''
  if (host !== '') return { host, port: Number(port) }
  return { host: separator === undefined ? '127.0.0.1' : '*', port: Number(port) }
}
