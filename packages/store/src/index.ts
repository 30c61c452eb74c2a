export type { ChangedFile, DeltaCoding, Download } from '@serve-dist/manifest'
export type {
  Content,
  ListedObject,
  PutOptions,
  ReadOptions,
  StoreBackend,
  StoredObject,
  Written,
} from './backend.ts'
export {
  type DeltasDocument,
  deltasKey,
  type DeltasOfFile,
  type DeltaVariants,
  parseDeltas,
  stringifyDeltas,
} from './deltas/deltas-document.ts'
export { fetchBlob } from './fetch-blob.ts'
export {
  blobKey,
  blobsOf,
  blobsPrefix,
  currentKey,
  generationKey,
  generationsPrefix,
  type History,
  type HistoryRow,
  keyIn,
  layoutVersion,
  type NamedBlob,
  parseHistory,
  stringifyHistory,
} from './layout.ts'
export { openStore } from './open-store.ts'
export { type LatestBuild, readLatest } from './read-latest.ts'
export { readDeltas, readGeneration, readHistory, type ReadHistory } from './read-documents.ts'
export {
  defaultRetention,
  keptGenerations,
  type KeptGenerations,
  type Retention,
} from './history/kept-generations.ts'
export type { ChangeOptions } from './change-options.ts'
export { type Generation, listGenerations } from './list-generations.ts'
export { prune, type PruneSummary } from './prune/prune.ts'
export type { Pruned } from './prune/pruned.ts'
export { purge, type PurgeSummary } from './prune/purge.ts'
export { publish } from './publish/publish.ts'
export type { DeltaProgress } from './deltas/encode-deltas.ts'
export type { PublishOptions, PublishProgress } from './publish/publish-options.ts'
export type { DeltasSummary } from './publish/make-deltas.ts'
export type { Amount, PublishSummary } from './publish/publish-summary.ts'
export { rollback, type RollbackOptions, type RollbackSummary } from './rollback.ts'
