import { type ChosenEngine, chooseEngine } from '../native/choose-engine.ts'
import type { TlsFiles } from '../transport/tls/tls-credentials.ts'
import type { TlsPair } from './follow-certificate.ts'
import { type ResolvedServeOptions, resolveServeOptions, type ServeOptions } from './serve-options.ts'

/** The input of a start before it loads a build. */
export interface PreparedStart {
  readonly options: ResolvedServeOptions
  readonly tls: TlsPair | undefined
  readonly engine: ChosenEngine
}

/**
 * Validates the options, reads the certificate and chooses the engine.
 *
 * @param isWorker - whether this process is one of our own workers.
 * @throws OperatorError for a wrong option, an unusable certificate or an unavailable engine.
 */
export async function prepareStart(given: ServeOptions, isWorker: boolean): Promise<PreparedStart> {
  const options = resolveServeOptions(given)
  const tls = options.tls && (await readPair(options.tls))
  const engine = await chooseEngine(options, { credentials: tls?.credentials, isWorker })
  return { options, tls, engine }
}

async function readPair(files: TlsFiles): Promise<TlsPair> {
  const { readTlsCredentials } = await import('../transport/tls/tls-credentials.ts')
  return { files, credentials: await readTlsCredentials(files) }
}
