import { type Download, servedFiles } from '@serve-dist/manifest'
import { sumBytes } from '../sum-bytes.ts'
import type { NamedBlob } from '../layout.ts'
import { describePrune, type Pruned } from '../prune/pruned.ts'
import type { Commit } from './commit-build.ts'
import { computeDownload } from './compute-download.ts'
import type { DeltasSummary, MadeDeltas } from './make-deltas.ts'
import type { Build, SourceBlob } from './read-source-build.ts'

/** A part of a build. */
export interface Amount {
  /** The number of distinct files and variants. */
  readonly blobs: number
  /**
   * The number of files with these blobs, without variants. Of `new` and `reused`, only files that a server sends count,
   * and those with equal bytes count separately.
   */
  readonly files: number
  /** The number of bytes of the blobs. */
  readonly bytes: number
}

/** The result of a publish as plain data. For a dry run, the expected result. */
export interface PublishSummary {
  /** The id of the build. */
  readonly id: string
  /** The number of files that a server sends. It makes the environment module, which is neither new nor reused. */
  readonly files: number
  /** The id of the previous current build. Absent if there was none, or if it is the same build. */
  readonly replaced?: string
  /** Whether the build was already current. */
  readonly wasCurrent: boolean
  /** Whether the publish wrote nothing. */
  readonly isDryRun: boolean
  /** The blobs that were sent. */
  readonly new: Amount
  /** The blobs that the store already had. */
  readonly reused: Amount
  /**
   * The download for a browser that has cached the whole previous build: new files in their smallest form, without
   * source maps. Absent if there is no manifest of a previous build.
   */
  readonly download?: Download
  /** Absent if deltas are disabled. */
  readonly deltas?: DeltasSummary
  /** The blobs that only earlier builds have. */
  readonly kept: Amount
  /** The ids of all builds that the store keeps, newest first. */
  readonly generations: readonly string[]
  readonly pruned: Pruned
  /** The number of requests to the store. */
  readonly requests: number
  readonly milliseconds: number
  /** Problems that did not prevent the publish. */
  readonly warnings: readonly string[]
}

/** Summarizes a publish. */
export function summarize({
  build: { manifest, blobs },
  sent,
  deltas,
  commit,
}: {
  readonly build: Build
  readonly sent: readonly SourceBlob[]
  readonly deltas: MadeDeltas | undefined
  readonly commit: Commit
}): Omit<PublishSummary, 'isDryRun' | 'requests' | 'milliseconds'> {
  const { plan, sentAgain } = commit
  const id = manifest.buildId
  const replaced = plan.before.history[0]?.id
  const files = servedFiles(manifest)
  const digests = files.flatMap(({ runtime, sha256 }) => (runtime === true ? [] : sha256))
  const own = new Map(blobs.map((blob) => [blob.sha256, blob]))
  const fresh = new Map([...sent, ...sentAgain].map((blob) => [blob.sha256, blob]))
  const reused = blobs.filter(({ sha256 }) => !fresh.has(sha256))

  const others = plan.kept.flatMap((other) => plan.generations.get(other) ?? [])
  const kept = new Map(
    others.flatMap((other) =>
      other.blobs.filter(({ sha256 }) => !own.has(sha256)).map((blob) => [blob.sha256, blob]),
    ),
  )
  const { pruned, warnings } = describePrune(commit)
  const earlier = replaced === undefined || replaced === id ? undefined : plan.generations.get(replaced)
  return {
    id,
    files: files.length,
    ...(replaced !== undefined && replaced !== id && { replaced }),
    wasCurrent: replaced === id,
    new: amountOf([...fresh.values()], digests),
    reused: amountOf(reused, digests),
    ...(earlier !== undefined && {
      download: computeDownload(manifest, {
        had: earlier.originals,
        replaced: deltas?.earlier.find((build) => build.manifest.buildId === replaced)?.manifest,
        deltas: deltas?.files,
      }),
    }),
    ...(deltas && { deltas: deltas.summary }),
    kept: amountOf([...kept.values()], new Set(others.flatMap(({ originals }) => Array.from(originals)))),
    generations: plan.kept,
    pruned,
    warnings: [...(deltas?.warnings ?? []), ...warnings],
  }
}

/** @param digests - the digests of the files to count. */
function amountOf(blobs: readonly NamedBlob[], digests: Iterable<string>): Amount {
  const own = new Set(blobs.map(({ sha256 }) => sha256))
  const files = Array.from(digests).filter((sha256) => own.has(sha256)).length
  return { files, blobs: blobs.length, bytes: sumBytes(blobs) }
}
