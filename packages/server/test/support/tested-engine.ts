import { type EngineChoice, engineChoices } from '../../src/native/engine-choice.ts'

/** From where the command takes it, too: the suite is run over both engines. */
export const testedEngine: EngineChoice =
  engineChoices.find((choice) => choice === process.env['SERVE_DIST_ENGINE']) ?? 'auto'
