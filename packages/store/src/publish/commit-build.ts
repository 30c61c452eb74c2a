import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { type Manifest, OperatorError, stringifyManifest } from '@serve-dist/manifest'
import { mostTries } from '../change-options.ts'
import { deltasKey, stringifyDeltas } from '../deltas/deltas-document.ts'
import { type MadeDeltas, readSoundDeltas } from './make-deltas.ts'
import { deltasThere } from '../deltas/plan-deltas.ts'
import { withPublished } from '../history/next-history.ts'
import { type Head, readQuietHead } from '../history/swap-history.ts'
import { blobsOf, generationKey, type History, type NamedBlob } from '../layout.ts'
import { isListed, listBlobs, type ListedBlobs } from '../list-blobs.ts'
import type { ObservedStore } from '../observe-store.ts'
import { planPrune, type PrunePlan } from '../prune/plan-prune.ts'
import { type Deletion, swapAndDelete } from '../prune/swap-and-delete.ts'
import { type GenerationBlobs, generationBlobsOf, readGenerations } from '../read-generations.ts'
import type { ResolvedPublishOptions } from './publish-options.ts'
import type { Build, SourceBlob } from './read-build.ts'
import { sendBlobs } from './send-blobs.ts'

/** What a commit goes by. */
export interface CommitInput {
  readonly build: Build
  readonly head: Head
  readonly listed: ListedBlobs
}

/** What a commit would change. */
export interface CommitPlan {
  /** The history that is there. */
  readonly before: History
  readonly listed: ListedBlobs
  readonly plan: PrunePlan
}

/** What a commit changed. */
export interface Commit extends CommitPlan {
  /** Blobs that were gone when all had been sent. */
  readonly sentAgain: readonly SourceBlob[]
  readonly deletion: Deletion
}

/**
 * Makes a build current whose blobs were sent.
 *
 * Nobody deletes while a head is quiet, and whoever begins to swaps the history. So what is listed after the head was read
 * stays as long as the swap succeeds (docs/decisions/024-stores.md).
 *
 * @param start - the history before the first blob was sent.
 * @param deltas - those that were made of it.
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
  const { signal, isForced } = options
  const sentAgain: SourceBlob[] = []
  for (let tries = 1; tries <= mostTries; tries += 1) {
    signal?.throwIfAborted()
    const head = await readQuietHead(store, options)
    if (!isForced) expectSameCurrent(store.place, { start, head, id: build.manifest.buildId })
    const listed = await listBlobs(store, options)
    const gone = build.blobs.filter((blob) => !isListed(listed, blob))
    await sendBlobs(store, { ...build, blobs: gone }, options)
    sentAgain.push(...gone)
    await putDeltas(store, { build, head, listed, deltas }, options)
    await putGeneration(store, { build, head }, options)
    const planned = await planCommit(store, { build, head, listed }, options)
    const { history: next, keys } = planned.plan
    const deletion = await swapAndDelete(store, { head, next, keys }, options)
    if (deletion !== undefined) return { ...planned, sentAgain, deletion }
  }
  const problem = `${store.place}: others publish again and again; publish once more when they have ended`
  throw new OperatorError('SD_STORE_CONFLICT', problem)
}

/** What the history becomes. Where nobody can find out what to prune, nothing is pruned: the build is published. */
export async function planCommit(
  store: ObservedStore,
  { build: { manifest }, head, listed }: CommitInput,
  options: ResolvedPublishOptions,
): Promise<CommitPlan> {
  const history = withPublished(head.history, manifest.buildId, store.now())
  const known = new Map([[manifest.buildId, generationBlobsOf(manifest)]])
  const before = head.history
  try {
    return { before, listed, plan: await planPrune(store, { history, listed, known }, options) }
  } catch (error) {
    options.signal?.throwIfAborted()
    const kept = [...new Set(history.history.map(({ id }) => id))]
    const warnings = [`nothing was pruned: ${reasonOf(error)}`]
    return { before, listed, plan: { history, kept, generations: known, keys: [], warnings } }
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
    `${place}: build ${found.id} was ${verb} meanwhile (${found.published}) and is current; publish again, which sends only what is missing, or pass --force`,
  )
}

/** The document of a build that was published stays: servers keep what they have read. */
async function putDeltas(
  store: ObservedStore,
  { build: { manifest }, head, listed, deltas }: CommitInput & { readonly deltas: MadeDeltas | undefined },
  { signal }: ResolvedPublishOptions,
): Promise<void> {
  if (deltas?.files === undefined || deltas.isThere) return
  const id = manifest.buildId
  const wasPublished = head.history.history.some((row) => row.id === id)
  if (wasPublished && (await readSoundDeltas(store, id, { signal })) !== undefined) return
  const files = deltasThere(deltas.files, (blob) => isListed(listed, blob))
  const text = Buffer.from(stringifyDeltas({ version: 1, files }))
  await store.put(deltasKey(id), text, { signal })
}

/** A generation that is named, and can be read, stays as it is. */
async function putGeneration(
  store: ObservedStore,
  { build: { manifest }, head }: { readonly build: Build; readonly head: Head },
  { signal }: ResolvedPublishOptions,
): Promise<void> {
  const id = manifest.buildId
  if (head.history.history.some((row) => row.id === id)) {
    const { generations } = await readGenerations(store, [id], { signal })
    const there = generations.get(id)
    if (there !== undefined) return expectSameBlobs(store.place, { there, manifest })
  }
  const text = Buffer.from(stringifyManifest(manifest))
  await store.put(generationKey(id), text, { signal })
}

/** An id is the digest of a manifest; one that somebody has edited would never be served. */
function expectSameBlobs(
  place: string,
  { there, manifest }: { readonly there: GenerationBlobs; readonly manifest: Manifest },
): void {
  if (digestsOf(there.blobs) === digestsOf(blobsOf(manifest))) return
  const problem = `${place}: has another build under the id ${manifest.buildId}, so the manifest was changed after the build; compress the folder again`
  throw new OperatorError('SD_MANIFEST_MISMATCH', problem)
}

function digestsOf(blobs: readonly NamedBlob[]): string {
  return blobs
    .map(({ sha256 }) => sha256)
    .toSorted()
    .join()
}
