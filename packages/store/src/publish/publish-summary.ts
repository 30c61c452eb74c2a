import type { Download } from '@serve-dist/manifest'
import { sumBytes } from '../sum-bytes.ts'
import type { NamedBlob } from '../layout.ts'
import { describePrune, type Pruned } from '../prune/pruned.ts'
import type { Commit } from './commit-build.ts'
import { computeDownload } from './compute-download.ts'
import type { DeltasSummary, MadeDeltas } from './make-deltas.ts'
import type { Build, SourceBlob } from './read-source-build.ts'

/** So much of a build. */
export interface Amount {
  /** With the bytes of their variants, each content once. */
  readonly blobs: number
  /** How many of them are files, and not variants. */
  readonly files: number
  /** Of the blobs. */
  readonly bytes: number
}

/** What a publish did, or would do: plain data. */
export interface PublishSummary {
  /** The build's. */
  readonly id: string
  /** The build that was current before; absent where there was none, or where it is the same. */
  readonly replaced?: string
  /** Whether the build was current already. */
  readonly wasCurrent: boolean
  /** Whether nothing was written. */
  readonly isDryRun: boolean
  /** What was sent. */
  readonly new: Amount
  /** What was there. */
  readonly reused: Amount
  /**
   * What a browser that has loaded all of the replaced build would load to have all of this one: files with content that
   * was not in that one, each in its smallest form, without source maps. Absent where no manifest of another is there.
   */
  readonly download?: Download
  /** Absent where nobody wanted any. */
  readonly deltas?: DeltasSummary
  /** What earlier builds that are kept have besides. */
  readonly kept: Amount
  /** The ids of all builds that the store has now, newest first. */
  readonly generations: readonly string[]
  readonly pruned: Pruned
  /** So many were sent to the store. */
  readonly requests: number
  readonly milliseconds: number
  /** The build is published none the less. */
  readonly warnings: readonly string[]
}

/** What is to be said of a publish. */
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
  const originals = new Set(manifest.files.map(({ sha256 }) => sha256))
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
    ...(replaced !== undefined && replaced !== id && { replaced }),
    wasCurrent: replaced === id,
    new: amountOf(fresh.values(), originals),
    reused: amountOf(reused, originals),
    ...(earlier !== undefined && {
      download: computeDownload(manifest, {
        had: earlier.originals,
        replaced: deltas?.earlier.find((build) => build.manifest.buildId === replaced)?.manifest,
        deltas: deltas?.files,
      }),
    }),
    ...(deltas && { deltas: deltas.summary }),
    kept: amountOf(kept.values(), { has: (sha256) => others.some((other) => other.originals.has(sha256)) }),
    generations: plan.kept,
    pruned,
    warnings: [...(deltas?.warnings ?? []), ...warnings],
  }
}

function amountOf(blobs: Iterable<NamedBlob>, originals: Pick<ReadonlySet<string>, 'has'>): Amount {
  const all = [...blobs]
  const files = all.filter(({ sha256 }) => originals.has(sha256)).length
  return { files, blobs: all.length, bytes: sumBytes(all) }
}
