import cluster from 'node:cluster'
import type { ResolvedServeOptions } from './serve-options.ts'

/**
 * Why the native engine cannot be had here, each in words that follow a colon.
 *
 * @param isWorker - whether it is one of our own workers that serves.
 */
export async function engineObstacles(
  { engine, host, ssr, tls }: Pick<ResolvedServeOptions, 'engine' | 'host' | 'ssr' | 'tls'>,
  isWorker: boolean,
): Promise<readonly string[]> {
  const found = [
    !isWorker && cluster.isWorker && 'this process is a worker of another program, such as PM2',
    // A light call of an application costs more through the relay; who wants that may have it.
    engine === 'auto' && ssr !== undefined && (await hasOneCore()) && 'not with --ssr on one core',
    host.includes('%') && 'not with a zone in --host',
    ...(tls === undefined ? [] : await settingsOfOpenSsl()),
  ]
  return found.filter((reason) => reason !== false)
}

async function hasOneCore(): Promise<boolean> {
  const { usableCores } = await import('@serve-dist/foundation/process/usable-cores')
  return usableCores() === 1
}

/** Settings of Node for TLS that nobody but OpenSSL obeys. */
async function settingsOfOpenSsl(): Promise<readonly (string | false)[]> {
  const [{ constants, getFips }, tls] = await Promise.all([import('node:crypto'), import('node:tls')])
  const flags = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ')
  return [
    tls.DEFAULT_CIPHERS !== constants.defaultCoreCipherList && 'not with --tls-cipher-list of Node',
    tls.DEFAULT_MIN_VERSION === 'TLSv1.3' && 'not with --tls-min-v1.3 of Node',
    tls.DEFAULT_MAX_VERSION !== 'TLSv1.3' && 'not with --tls-max-v1.2 of Node',
    flags.includes('--tls-keylog') && 'not with --tls-keylog of Node',
    getFips() === 1 && 'not where OpenSSL is in FIPS mode',
  ]
}
