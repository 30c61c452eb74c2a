import cluster from 'node:cluster'
import { loadOptional, OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { EngineBinding, EngineCredentials } from '@serve-dist/engine'
import type { TlsCredentials } from '../transport/tls/tls-credentials.ts'

/** The values of `--engine`. `auto` uses the native engine if it is available. */
export const engineChoices = ['auto', 'native', 'node'] as const
export type EngineChoice = (typeof engineChoices)[number]

/** The engine that serves build files. */
export interface RunningEngine {
  readonly name: 'native' | 'node'
  /** The number of threads of the native engine. */
  readonly threads?: number
  /** The reason why `auto` did not choose the native engine. */
  readonly why?: string
}

/** The chosen engine, with the addon of the native engine. */
export interface ChosenEngine extends RunningEngine {
  readonly binding?: EngineBinding
}

/** The server options that affect the choice. */
interface EngineOptions {
  readonly engine: EngineChoice
  readonly host: string
  readonly tls?: object | undefined
}

/** The input from the starting process. */
interface EngineNeeds {
  readonly credentials?: TlsCredentials | undefined
  /** Whether this process is one of our own workers. The primary process chose the engine at the start. */
  readonly isWorker?: boolean
  /** Returns the addon, or the reason in one line why it is not available. */
  readonly load?: () => Promise<EngineBinding | string>
}

/**
 * Chooses an engine.
 *
 * @throws OperatorError if the options require the native engine and it is not available.
 */
export async function chooseEngine(
  options: EngineOptions,
  { credentials, isWorker = false, load = loadBinding }: EngineNeeds = {},
): Promise<ChosenEngine> {
  if (options.engine === 'node') return { name: 'node' }
  const obstacles = await findObstacles(options, isWorker)
  const found = obstacles.length > 0 ? obstacles.join('; ') : await load()
  const why = typeof found === 'string' ? found : credentials && whyUnusable(found, credentials)
  if (typeof found !== 'string' && why === undefined) return { name: 'native', binding: found }
  if (options.engine === 'auto') return { name: 'node', ...(why !== undefined && { why }) }
  const problem = isWorker
    ? `a new worker cannot use the native engine of this server: ${why}. Fix this, or restart the server with --engine auto or --engine node.`
    : `the native engine is not available: ${why}. Use --engine auto to fall back to Node's engine.`
  throw new OperatorError('SD_ENGINE_UNAVAILABLE', problem)
}

/** Converts credentials to the form that the addon accepts. */
export function engineCredentials({ cert, key }: TlsCredentials): EngineCredentials {
  return { certificate: cert, key, protocols: ['h2', 'http/1.1'] }
}

async function findObstacles({ host, tls }: EngineOptions, isWorker: boolean): Promise<readonly string[]> {
  const found = [
    !isWorker && cluster.isWorker && 'this process is a worker of another program, such as PM2',
    host.includes('%') && 'no support for a zone in --host',
    ...(tls === undefined ? [] : await settingsOfOpenSsl()),
  ]
  return found.filter((reason) => reason !== false)
}

/** Returns TLS settings of Node that only OpenSSL supports. */
async function settingsOfOpenSsl(): Promise<readonly (string | false)[]> {
  const [{ constants, getFips }, tls] = await Promise.all([import('node:crypto'), import('node:tls')])
  const flags = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ')
  return [
    tls.DEFAULT_CIPHERS !== constants.defaultCoreCipherList && 'no support for --tls-cipher-list of Node',
    tls.DEFAULT_MIN_VERSION === 'TLSv1.3' && 'no support for --tls-min-v1.3 of Node',
    tls.DEFAULT_MAX_VERSION !== 'TLSv1.3' && 'no support for --tls-max-v1.2 of Node',
    flags.includes('--tls-keylog') && 'no support for --tls-keylog of Node',
    getFips() === 1 && 'no support for the FIPS mode of OpenSSL',
  ]
}

/** Some types of keys and certificates need OpenSSL. */
function whyUnusable(binding: EngineBinding, credentials: TlsCredentials): string | undefined {
  try {
    binding.Engine.checkCredentials(engineCredentials(credentials))
    return undefined
  } catch (error) {
    return `it cannot use the certificate: ${reasonOf(error)}`
  }
}

async function loadBinding(): Promise<EngineBinding | string> {
  if (process.platform === 'win32') return 'it does not support Windows'
  const wanted = { name: '@serve-dist/engine', neededBy: 'the native engine' }
  try {
    return (await loadOptional(wanted, () => import('@serve-dist/engine'))).loadEngine()
  } catch (error) {
    const isMissing = error instanceof OperatorError
    return isMissing
      ? `${wanted.name} is not installed`
      : `${wanted.name} cannot be loaded: ${reasonOf(error)}`
  }
}
