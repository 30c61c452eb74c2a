export { availableDeltaCodings } from './deltas/delta-codec.ts'
export { deltaBlobsOf, type DeltasDocument, parseDeltas, stringifyDeltas } from './deltas/deltas-document.ts'
export {
  defaultDeltaBudget,
  type DeltaCounts,
  type DeltaFiles,
  type DeltaProgress,
  type EncodedDeltas,
  encodeDeltas,
  type EncodeDeltasOptions,
} from './deltas/encode-deltas.ts'
export {
  type DeltaPair,
  type DeltasPlan,
  type DictionaryBuild,
  dictionaryGenerations,
  planDeltas,
} from './deltas/plan-deltas.ts'
export { computeDownload, type Earlier } from './publish/compute-download.ts'
