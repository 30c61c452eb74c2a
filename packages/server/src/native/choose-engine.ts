import { OperatorError } from '@serve-dist/manifest'
import type { EngineBinding } from '@serve-dist/engine'
import type { EngineChoice, RunningEngine } from './engine-choice.ts'

/** The engine that answers. */
export interface ChosenEngine extends RunningEngine {
  /** The addon of the native one. */
  readonly binding?: EngineBinding
}

/**
 * Chooses an engine.
 *
 * @param obstacles - what the native one cannot be had with.
 * @param load - gives the addon, or says in one line why there is none.
 * @throws OperatorError where the native engine is wanted and cannot be had.
 */
export async function chooseEngine(
  choice: EngineChoice,
  obstacles: readonly string[],
  load: () => Promise<EngineBinding | string> = loadBinding,
): Promise<ChosenEngine> {
  if (choice === 'node') return { name: 'node' }
  const found = obstacles.length > 0 ? `not with ${obstacles.join(', ')}` : await load()
  if (typeof found !== 'string') return { name: 'native', binding: found }
  if (choice === 'auto') return { name: 'node', why: found }
  throw new OperatorError(
    'SD_ENGINE_UNAVAILABLE',
    `the native engine cannot be had: ${found}; --engine auto takes Node's where it must`,
  )
}

async function loadBinding(): Promise<EngineBinding | string> {
  if (process.platform === 'win32') return 'there is none for Windows'
  const library = await import('@serve-dist/engine').catch(() => undefined)
  return library?.loadEngine() ?? '@serve-dist/engine is not installed'
}
