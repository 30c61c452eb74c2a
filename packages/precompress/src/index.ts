export { openZstdDecoder } from './codecs/zstd-decoder.ts'
export { filesOfPage, type FilesOfPage, type NamedFile } from './links/files-of-page.ts'
export { markUnfinished, removeVariants } from './commit/build-writer.ts'
export { digestOfFile } from './folder/describe-file.ts'
export { warnAboutUnmatchedGlobs } from './folder/warn-about-unmatched-globs.ts'
export { describeDirectory } from './compression/describe-directory.ts'
export { pendingPath } from '@serve-dist/manifest'
export { escapeGlob } from './folder/escape-glob.ts'
export { finish, type FinishOptions, type FinishReport } from './compression/finish.ts'
export { precompress, type PrecompressReport } from './compression/precompress.ts'
export type { DescribeOptions, LinksOf, PrecompressOptions, Progress } from './precompress-options.ts'
export { type ResolvedPrecompressOptions, resolvePrecompressOptions } from './resolve-precompress-options.ts'
export type {
  BuildFacts,
  BuildRecord,
  ChunkNeeds,
  HashedFile,
  PagePreloads,
  PolicyNeed,
  StoredRecord,
} from './record/build-record.ts'
export { readCachedRecords, readRecord, writeRecord } from './record/record-files.ts'
export { OperatorError, type OperatorErrorCode } from '@serve-dist/manifest'
