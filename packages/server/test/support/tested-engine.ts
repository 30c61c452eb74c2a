import { loadEngine } from '@serve-dist/engine'
import { type EngineChoice, engineChoices } from '../../src/native/choose-engine.ts'

/** The engine of this run. The command reads the same variable, because the suite runs with both engines. */
export const testedEngine: EngineChoice =
  engineChoices.find((choice) => choice === process.env['SERVE_DIST_ENGINE']) ?? 'auto'

/** Whether the native engine is available. */
export const hasNative: boolean = typeof loadEngine() !== 'string'

/** The available engines, for tests that start each of them. */
export const availableEngines = hasNative ? (['node', 'native'] as const) : (['node'] as const)

/** Whether the native engine is tested. If it is unavailable, `auto` selects Node's. */
export const isNative: boolean = testedEngine !== 'node' && hasNative
