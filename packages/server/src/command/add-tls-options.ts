import { OperatorError } from '@serve-dist/manifest'
import { type Command, Option } from 'commander'
import { commandArgument } from './command-argument.ts'
import { parseHsts } from '../transport/tls/tls-options.ts'
import { parsePort } from './parse-port.ts'
import type { TlsOptions } from '../transport/tls/tls-options.ts'

/** What the command line gave about TLS. */
export interface TlsFlags {
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly redirectHttp?: number
  readonly hsts?: string
}

/** Adds the options about TLS to the command. */
export function addTlsOptions(program: Command): Command {
  return program
    .addOption(
      new Option(
        '--tls-cert <file>',
        'certificate and chain in PEM form: speak TLS, HTTP/2 and HTTP/1.1',
      ).env('TLS_CERT'),
    )
    .addOption(new Option('--tls-key <file>', "the certificate's private key in PEM form").env('TLS_KEY'))
    .addOption(
      new Option('--redirect-http <port>', 'port whose plain HTTP is sent on to HTTPS').argParser(
        commandArgument(parsePort),
      ),
    )
    .addOption(
      new Option(
        '--hsts <time>',
        'how long browsers are to use HTTPS alone, such as 1y, or the value of Strict-Transport-Security',
      ).argParser(commandArgument(parseHsts)),
    )
}

/**
 * What the flags ask for.
 *
 * @throws OperatorError when they do not go together.
 */
export function tlsOptionsOf({ tlsCert, tlsKey, redirectHttp, hsts }: TlsFlags): TlsOptions | undefined {
  if (tlsCert === undefined && tlsKey === undefined) {
    const [flag] =
      Object.entries({ '--redirect-http': redirectHttp, '--hsts': hsts }).find(
        ([, value]) => value !== undefined,
      ) ?? []
    if (flag !== undefined)
      throw new OperatorError('SD_TLS_UNUSABLE', `${flag} is about HTTPS; add --tls-cert and --tls-key`)
    return undefined
  }
  if (tlsCert === undefined)
    throw new OperatorError(
      'SD_TLS_UNUSABLE',
      '--tls-key is there without --tls-cert; a certificate and its key go together',
    )
  if (tlsKey === undefined)
    throw new OperatorError(
      'SD_TLS_UNUSABLE',
      '--tls-cert is there without --tls-key; a certificate and its key go together',
    )
  return {
    cert: tlsCert,
    key: tlsKey,
    ...(redirectHttp !== undefined && { redirectPort: redirectHttp }),
    ...(hsts !== undefined && { hsts }),
  }
}
