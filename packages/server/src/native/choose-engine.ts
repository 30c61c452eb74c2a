import { loadOptional, OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { EngineBinding } from '@serve-dist/engine'
import type { TlsCredentials } from '../transport/tls/tls-credentials.ts'
import type { EngineChoice, RunningEngine } from './engine-choice.ts'
import { engineCredentials } from './engine-credentials.ts'

/** The engine that answers. */
export interface ChosenEngine extends RunningEngine {
  /** The addon of the native one. */
  readonly binding?: EngineBinding
}

/** What the native engine needs. */
export interface EngineNeeds {
  /** What it encrypts connections with, if it does. */
  readonly credentials?: TlsCredentials | undefined
  /** Whether this is a worker, whose primary has chosen for all when the server started. */
  readonly isWorker?: boolean
  /** Gives the addon, or says in one line why there is none. */
  readonly load?: () => Promise<EngineBinding | string>
}

/**
 * Chooses an engine.
 *
 * @param obstacles - what the native one cannot be had with.
 * @throws OperatorError where the native engine is wanted and cannot be had.
 */
export async function chooseEngine(
  choice: EngineChoice,
  obstacles: readonly string[],
  { credentials, isWorker = false, load = loadBinding }: EngineNeeds = {},
): Promise<ChosenEngine> {
  if (choice === 'node') return { name: 'node' }
  const found = obstacles.length > 0 ? obstacles.join('; ') : await load()
  const why = typeof found === 'string' ? found : credentials && whyUnusable(found, credentials)
  if (typeof found !== 'string' && why === undefined) return { name: 'native', binding: found }
  if (choice === 'auto') return { name: 'node', ...(why !== undefined && { why }) }
  const problem = isWorker
    ? `a new worker cannot have the native engine, which the server chose at its start: ${why}; mend that, or restart the server with --engine auto, which falls back to Node's engine, or with --engine node`
    : `the native engine cannot be had: ${why}; --engine auto falls back to Node's engine`
  throw new OperatorError('SD_ENGINE_UNAVAILABLE', problem)
}

/** Some keys and certificates only OpenSSL knows. */
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
