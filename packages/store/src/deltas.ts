export { availableDeltaCodings } from './deltas/delta-codec.ts'
export { type DeltaPair, dictionaryGenerations, planDeltas } from './deltas/plan-deltas.ts'
export { type DeltaAnswer, type DeltaThread, startDeltaThread } from './deltas/start-delta-thread.ts'
export { worthwhileDeltas } from './deltas/worthwhile-deltas.ts'
