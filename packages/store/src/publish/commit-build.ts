import { type Manifest, OperatorError, stringifyManifest } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { deltasKey, stringifyDeltas } from '../deltas/deltas-document.ts'
import { selectAvailableDeltas } from '../deltas/plan-deltas.ts'
import { withPublished } from '../history/next-history.ts'
import type { Head } from '../history/swap-history.ts'
import { blobsOf, generationKey, type History } from '../layout.ts'
import { isListed, type ListedObjects } from '../list-objects.ts'
import type { ObservedStore } from '../observe-store.ts'
import { planAndDelete, type PlannedChange } from '../prune/plan-and-delete.ts'
import { planPrune, type PrunePlan } from '../prune/plan-prune.ts'
import { generationBlobsOf } from '../read-builds.ts'
import { undefinedIfUnreadable, readDeltas, readGeneration } from '../read-documents.ts'
import type { MadeDeltas } from './make-deltas.ts'
import type { ResolvedPublishOptions } from './publish-options.ts'
import type { Build, SourceBlob } from './read-source-build.ts'
import { sendBlobs } from './send-blobs.ts'

interface CommitInput {
  readonly build: Build
  readonly head: Head
  readonly listed: ListedObjects
}

interface CommitPlan extends PrunePlan {
  /** The history before the commit. */
  readonly before: History
}

/** The result of a commit. For a dry run, the expected result. */
export interface Commit extends PlannedChange<CommitPlan> {
  /** Blobs that another process deleted after this publish had sent them. */
  readonly sentAgain: readonly SourceBlob[]
}

/**
 * Makes a build current whose blobs were sent.
 *
 * @param start - the history before the first blob was sent.
 * @param deltas - the deltas of the build.
 */
export async function commitBuild(
  store: ObservedStore,
  {
    build,
    start,
    deltas,
  }: { readonly build: Build; readonly start: Head; readonly deltas: MadeDeltas | undefined },
  options: ResolvedPublishOptions,
): Promise<Commit> {
  const sentAgain: SourceBlob[] = []
  const change = await planAndDelete(store, options, async (head, listed) => {
    if (!options.isDryRun) {
      if (!options.isForced) expectSameCurrent(store.place, { start, head, id: build.manifest.buildId })
      const gone = build.blobs.filter((blob) => !isListed(listed, blob))
      await sendBlobs(store, { ...build, blobs: gone }, options)
      sentAgain.push(...gone)
      await putDeltas(store, { build, head, listed, deltas }, options)
      await putGeneration(store, { build, head }, options)
    }
    return await planCommit(store, { build, head, listed }, options)
  })
  return { ...change, sentAgain }
}

/** Plans the commit. If the prune cannot be planned, the build is published without it. */
async function planCommit(
  store: ObservedStore,
  { build: { manifest }, head: { history: before }, listed }: CommitInput,
  options: ResolvedPublishOptions,
): Promise<CommitPlan> {
  const history = withPublished(before, manifest.buildId, store.now())
  const known = new Map([[manifest.buildId, generationBlobsOf(manifest)]])
  try {
    return { before, ...(await planPrune(store, { history, listed, known }, options)) }
  } catch (error) {
    options.signal?.throwIfAborted()
    const kept = [...new Set(history.history.map(({ id }) => id))]
    const warnings = [`nothing was pruned (${reasonOf(error)}). The next publish tries again.`]
    return { before, history, kept, generations: known, keys: [], warnings }
  }
}

function expectSameCurrent(
  place: string,
  { start, head, id }: { readonly start: Head; readonly head: Head; readonly id: string },
): void {
  const [found] = head.history.history
  if (found === undefined || found.id === id || found.number === start.history.history[0]?.number) return
  const verb = found.restores === undefined ? 'published' : 'rolled back to'
  throw new OperatorError(
    'SD_STORE_CONFLICT',
    `${place}: build ${found.id} was ${verb} during this publish (${found.published}) and is current. Publish again (only missing files are sent), or pass --force.`,
  )
}

/** Keeps the document of a build that was published before, because servers may have read it. */
async function putDeltas(
  store: ObservedStore,
  { build: { manifest }, head, listed, deltas }: CommitInput & { readonly deltas: MadeDeltas | undefined },
  { signal }: ResolvedPublishOptions,
): Promise<void> {
  if (deltas?.files === undefined || deltas.summary.isThere) return
  const id = manifest.buildId
  const wasPublished = head.history.history.some((row) => row.id === id)
  if (wasPublished && (await undefinedIfUnreadable(readDeltas(store, id, { signal }))) !== undefined) return
  const files = selectAvailableDeltas(deltas.files, (blob) => isListed(listed, blob))
  const text = Buffer.from(stringifyDeltas({ version: 1, files }))
  await store.put(deltasKey(id), text, { signal })
}

/** Keeps a manifest that the history names and that can be read. */
async function putGeneration(
  store: ObservedStore,
  { build: { manifest }, head }: { readonly build: Build; readonly head: Head },
  { signal }: ResolvedPublishOptions,
): Promise<void> {
  const id = manifest.buildId
  if (head.history.history.some((row) => row.id === id)) {
    const there = await undefinedIfUnreadable(readGeneration(store, id, { signal }))
    if (there !== undefined) return expectSameBlobs(store.place, { there, manifest })
  }
  const text = Buffer.from(stringifyManifest(manifest))
  await store.put(generationKey(id), text, { signal })
}

/** The id is derived from the manifest, so an edited manifest would not be served. */
function expectSameBlobs(
  place: string,
  { there, manifest }: Readonly<Record<'there' | 'manifest', Manifest>>,
): void {
  if (digestsOf(there) === digestsOf(manifest)) return
  const problem = `${place}: the store has a different build with the id ${manifest.buildId}, because the manifest was edited after the build. Compress the folder again.`
  throw new OperatorError('SD_MANIFEST_MISMATCH', problem)
}

function digestsOf(manifest: Manifest): string {
  return blobsOf(manifest)
    .map(({ sha256 }) => sha256)
    .toSorted()
    .join()
}
