import { type Manifest, OperatorError, stringifyManifest } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { shortId } from '@serve-dist/foundation/text/short-id'
import type { StoreBackend } from '../backend.ts'
import { deltaBlobsOf, deltasKey, stringifyDeltas } from '../deltas/deltas-document.ts'
import { selectAvailableDeltas } from '../deltas/plan-deltas.ts'
import { withPublished } from '../history/next-history.ts'
import type { Head } from '../history/swap-history.ts'
import { generationKey, type History, keyIn, withKeys } from '../layout.ts'
import { availableKey, type Inventory, isListed, keyToWrite } from '../list-objects.ts'
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
  readonly inventory: Inventory
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
  const change = await planAndDelete(store, options, async (head, inventory) => {
    if (options.isDryRun) return await planCommit(store, { build, inventory, keys: [] }, options)
    if (!options.isForced) expectSameCurrent(store.place, { start, head, id: build.manifest.buildId })
    const gone = build.blobs.filter((blob) => !isListed(inventory, blob))
    const sent = await sendBlobs(store, { ...build, blobs: gone, inventory }, options)
    sentAgain.push(...gone)
    const keys = build.blobs.map((blob) => sent.get(blob.sha256) ?? availableKey(inventory, blob) ?? '')
    keys.push(...(await putDeltas(store, { build, inventory, deltas }, options)))
    keys.push(await putGeneration(store, { build, inventory }, options))
    return await planCommit(store, { build, inventory, keys }, options)
  })
  return { ...change, sentAgain }
}

/**
 * Plans the commit. If the prune cannot be planned, the build is published without it.
 *
 * @param keys - the keys of the build's objects.
 */
async function planCommit(
  store: ObservedStore,
  { build: { manifest }, inventory, keys }: CommitInput & { readonly keys: readonly string[] },
  options: ResolvedPublishOptions,
): Promise<CommitPlan> {
  const { history: before } = inventory
  const published = withPublished(before, manifest.buildId, store.now())
  const history = { ...published, suffixes: withKeys(before.suffixes, keys) }
  const known = new Map([[manifest.buildId, generationBlobsOf(manifest)]])
  try {
    return { before, ...(await planPrune(store, { history, inventory, known }, options)) }
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
    `${place}: build ${shortId(found.id)} was ${verb} during this publish (${found.published}) and is current. Publish again (only missing files are sent), or pass --force.`,
  )
}

/**
 * Keeps the document of a build that was published before, because servers may have read it.
 *
 * @returns the keys of the document and its blobs.
 */
async function putDeltas(
  store: ObservedStore,
  { build: { manifest }, inventory, deltas }: CommitInput & { readonly deltas: MadeDeltas | undefined },
  { signal }: ResolvedPublishOptions,
): Promise<readonly string[]> {
  if (deltas?.files === undefined || deltas.summary.isThere) return []
  const { history } = inventory
  const id = manifest.buildId
  const wasPublished = history.history.some((row) => row.id === id)
  const there = wasPublished && (await undefinedIfUnreadable(readDeltas(store, id, { history, signal })))
  if (typeof there === 'object') return []
  const files = selectAvailableDeltas(deltas.files, (blob) => isListed(inventory, blob))
  const document = { version: 1, files } as const
  const key = await putDocument(
    store,
    { plainKey: deltasKey(id), text: stringifyDeltas(document), inventory },
    signal,
  )
  return [key, ...deltaBlobsOf(document).map((blob) => availableKey(inventory, blob) ?? '')]
}

/**
 * Keeps a manifest that the history names and that is intact.
 *
 * @returns its key.
 */
async function putGeneration(
  store: ObservedStore,
  { build: { manifest }, inventory }: CommitInput,
  { signal }: ResolvedPublishOptions,
): Promise<string> {
  const { history } = inventory
  const id = manifest.buildId
  const plainKey = generationKey(id)
  const text = stringifyManifest(manifest)
  const key = keyIn(history, plainKey)
  if (key !== plainKey) {
    const there = await undefinedIfUnreadable(readGeneration(store, id, { history, signal }))
    if (there !== undefined) {
      if (withoutTimes(there) === withoutTimes(manifest)) return key
      // The id is derived from the manifest, so an edited manifest would not be served.
      const problem = `${store.place}: the store has a different build with the id ${shortId(id)}, because the manifest was edited after the build. Compress the folder again.`
      throw new OperatorError('SD_MANIFEST_MISMATCH', problem)
    }
  }
  return await putDocument(store, { plainKey, text, inventory }, signal)
}

/** Returns the text of a manifest without its times, which differ if the same files were built twice. */
function withoutTimes(manifest: Manifest): string {
  const files = manifest.files.map((file) => ({ ...file, lastModified: '' }))
  return stringifyManifest({ ...manifest, lastModified: '', timesAreFixed: true, files })
}

async function putDocument(
  store: StoreBackend,
  {
    plainKey,
    text,
    inventory: { deleted },
  }: { readonly plainKey: string; readonly text: string; readonly inventory: Inventory },
  signal: AbortSignal | undefined,
): Promise<string> {
  const key = keyToWrite(plainKey, { history: { suffixes: { [plainKey]: sha256Of(text) } }, deleted })
  await store.put(key, Buffer.from(text), { signal })
  return key
}
