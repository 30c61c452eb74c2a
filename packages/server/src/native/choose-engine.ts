import cluster from 'node:cluster'
import { loadOptional, OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { EngineBinding, EngineCredentials } from '@serve-dist/engine'
import type { TlsCredentials } from '../transport/tls/tls-credentials.ts'

/** Which engine answers files of a build: `auto` prefers the native engine if it is available. */
export const engineChoices = ['auto', 'native', 'node'] as const
export type EngineChoice = (typeof engineChoices)[number]

/** The engine that answers files of a build. */
export interface RunningEngine {
  readonly name: 'native' | 'node'
  /** The number of threads of the native engine. */
  readonly threads?: number
  /** Why `auto` did not choose the native engine. */
  readonly why?: string
}

/** A chosen engine, with the addon of the native engine. */
export interface ChosenEngine extends RunningEngine {
  readonly binding?: EngineBinding
}

/** The options of a server that decide which engine is available. */
interface EngineOptions {
  readonly engine: EngineChoice
  readonly host: string
  readonly ssr?: string | undefined
  readonly tls?: object | undefined
}

/** What a process that starts needs of the engine. */
interface EngineNeeds {
  readonly credentials?: TlsCredentials | undefined
  /** Whether this process is one of our own workers: the primary chose the engine when the server started. */
  readonly isWorker?: boolean
  /** Returns the addon, or in one line why it is not available. */
  readonly load?: () => Promise<EngineBinding | string>
}

/**
 * Chooses an engine.
 *
 * @throws OperatorError if the options ask for the native engine and it is not available.
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
    ? `a new worker cannot have the native engine, which the server chose at its start: ${why}; mend that, or restart the server with --engine auto, which falls back to Node's engine, or with --engine node`
    : `the native engine cannot be had: ${why}; --engine auto falls back to Node's engine`
  throw new OperatorError('SD_ENGINE_UNAVAILABLE', problem)
}

/** Returns the credentials in the form that the addon takes. */
export function engineCredentials({ cert, key }: TlsCredentials): EngineCredentials {
  return { certificate: cert, key, protocols: ['h2', 'http/1.1'] }
}

async function findObstacles(
  { engine, host, ssr, tls }: EngineOptions,
  isWorker: boolean,
): Promise<readonly string[]> {
  const found = [
    !isWorker && cluster.isWorker && 'this process is a worker of another program, such as PM2',
    // The relay makes light calls of an application dearer; users can force it with `--engine native`.
    engine === 'auto' && ssr !== undefined && (await hasOneCore()) && 'not with --ssr on one core',
    host.includes('%') && 'not with a zone in --host',
    ...(tls === undefined ? [] : await settingsOfOpenSsl()),
  ]
  return found.filter((reason) => reason !== false)
}

async function hasOneCore(): Promise<boolean> {
  const { countUsableCores } = await import('@serve-dist/foundation/process/count-usable-cores')
  return countUsableCores() === 1
}

/** Settings of Node for TLS that only OpenSSL obeys. */
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

/** Only OpenSSL knows some kinds of keys and certificates. */
function whyUnusable(binding: EngineBinding, credentials: TlsCredentials): string | undefined {
  try {
    binding.Engine.checkCredentials(engineCredentials(credentials))
    return undefined
  } catch (error) {
    return `it cannot use the certificate: ${reasonOf(error)}`
  }
}

async function loadBinding(): Promise<EngineBinding | string> {
  if (process.platform === 'win32') return 'there is none for Windows'
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
