import { loadEngine } from '@serve-dist/engine'
import { type EngineChoice, engineChoices } from '../../src/native/choose-engine.ts'

/** From where the command takes it, too: the suite is run over both engines. */
export const testedEngine: EngineChoice =
  engineChoices.find((choice) => choice === process.env['SERVE_DIST_ENGINE']) ?? 'auto'

/** Whether there is a native one here. */
export const hasNative: boolean = typeof loadEngine() !== 'string'

/** Whether the native one is tested: where there is none, `auto` is Node's. */
export const isNative: boolean = testedEngine !== 'node' && hasNative
