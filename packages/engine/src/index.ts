export type {
  Engine,
  EngineAddress,
  EngineBinding,
  EngineLimits,
  EngineListener,
  EngineOptions,
  EngineTable,
  HandedConnection,
  ListeningAddress,
} from './binding.ts'
export { engineAsks, engineFlags, noSlab } from './binding.ts'
export { loadEngine } from './load-binding.ts'
