export type {
  Engine,
  EngineAddress,
  EngineBinding,
  EngineFile,
  EngineCredentials,
  EngineLimits,
  EngineListener,
  EngineOptions,
  EngineTable,
  HandedConnection,
  HandedEncryption,
  ListeningAddress,
  SharedSocket,
} from './binding.ts'
export {
  engineCounts,
  engineNodeChoice,
  engineFlags,
  engineRuleUnit,
  engineMarks,
  engineStrides,
  noSlab,
} from './binding.ts'
export { loadEngine } from './load-binding.ts'
