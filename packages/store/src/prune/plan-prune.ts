import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { deltasKey } from '../deltas/deltas-document.ts'
import type { Stoppable } from '../backend.ts'
import {
  blobKey,
  deletionKey,
  deletionsPrefix,
  generationKey,
  generationsPrefix,
  type History,
  keyIn,
  withKeys,
} from '../layout.ts'
import { keptGenerations, type KeptGenerations, type Retention } from '../history/kept-generations.ts'
import { withOnly, withOnlySuffixes } from '../history/next-history.ts'
import { type Inventory, listObjects } from '../list-objects.ts'
import type { ObservedStore } from '../observe-store.ts'
import { type GenerationBlobs, type ReadBuilds, readBuilds } from '../read-builds.ts'
import type { ChangePlan } from './swap-and-delete.ts'

/** The limits of a prune. */
export interface PruneLimits {
  readonly retention: Retention
  /**
   * The minimum age, in milliseconds, of unreferenced objects that may be deleted. Younger ones can belong to a publish
   * in progress.
   */
  readonly protectedFor: number
  readonly signal: AbortSignal | undefined
}

/** The changes that a prune makes. */
export interface PrunePlan extends ChangePlan {
  readonly kept: readonly string[]
  readonly generations: ReadonlyMap<string, GenerationBlobs>
  readonly warnings: readonly string[]
}

/**
 * Finds builds beyond the retention limits and objects that no build names.
 *
 * @param known - builds that need not be read.
 */
export async function planPrune(
  store: ObservedStore,
  {
    history,
    inventory,
    known,
  }: {
    readonly history: History
    readonly inventory: Inventory
    readonly known?: ReadonlyMap<string, GenerationBlobs>
  },
  { retention, protectedFor, signal }: PruneLimits,
): Promise<PrunePlan> {
  const now = store.now()
  const isOld = ({ modified }: { readonly modified: number }): boolean => now - modified > protectedFor
  const rows = new Set(history.history.map(({ id }) => id))
  const stored = await listObjects(store, generationsPrefix, { signal })
  // Recent manifests without a row belong to a publish that is in progress or was killed.
  const young = stored.filter((object) => !rows.has(object.name) && !isOld(object))
  const youngIds = new Set(young.map(({ name }) => name))
  const youngKeys = young.map(({ key }) => key)
  const read = await readBuilds(store, [...rows, ...youngIds], {
    history: { suffixes: withKeys(history.suffixes, youngKeys) },
    known,
    signal,
  })
  const isThere = (id: string): boolean => !read.missing.has(id) || id === history.history[0]?.id
  const there = withOnly(history, new Set([...rows].filter(isThere)))
  const keeping = keptGenerations(there, read.blobs, retention, now)
  const kept = keeping.ids

  const keptKeys = new Set<string>(youngKeys)
  const youngDigests = new Set<string>()
  for (const id of kept) {
    for (const plainKey of plainKeysOf(id, read)) keptKeys.add(keyIn(history, plainKey))
  }
  for (const id of youngIds) for (const { sha256 } of read.blobs.get(id) ?? []) youngDigests.add(sha256)
  const isDropped = (id: string): boolean => rows.has(id) && !kept.includes(id)
  const documents = [...stored, ...read.deltasObjects].filter(
    (object) => !keptKeys.has(object.key) && (isDropped(object.name) || isOld(object)),
  )
  // The blobs of an unreadable manifest are unknown. A later release may have published it.
  const unknown = new Map(
    [...read.unreadable, ...read.unreadableDeltas].filter(([id]) => kept.includes(id) || youngIds.has(id)),
  )
  const isUnused = (object: Inventory['all'][number]): boolean =>
    !keptKeys.has(object.key) && !youngDigests.has(object.name) && isOld(object)
  const doomed = unknown.size > 0 ? [] : inventory.all.filter(isUnused)
  const next = withOnly(there, new Set(kept))
  return {
    history: unknown.size > 0 ? next : withOnlySuffixes(next, keptKeys),
    kept,
    generations: read.generations,
    // Manifests go first. The next prune finds blobs that no manifest names.
    keys: [
      ...[...documents, ...doomed].map(({ key }) => key),
      ...(await listEndedDeletions(store, history, { signal })),
    ],
    warnings: warningsOf(keeping, { missing: read.missing, unknown }, retention),
  }
}

/** Lists documents of deletions that the history does not have. Killed processes left them. */
async function listEndedDeletions(
  store: ObservedStore,
  { deletions = [] }: History,
  options: Stoppable,
): Promise<readonly string[]> {
  const running = new Set(deletions.map(deletionKey))
  const ended: string[] = []
  for await (const { key } of store.list(deletionsPrefix, options)) if (!running.has(key)) ended.push(key)
  return ended
}

/** Returns the plain keys of the objects of a build. */
export function plainKeysOf(id: string, { blobs }: Pick<ReadBuilds, 'blobs'>): readonly string[] {
  return [generationKey(id), deltasKey(id), ...(blobs.get(id) ?? []).map(({ sha256 }) => blobKey(sha256))]
}

function warningsOf(
  { bytes, isAboveCap }: KeptGenerations,
  { missing, unknown }: Pick<ReadBuilds, 'missing'> & { readonly unknown: ReadonlyMap<string, Error> },
  retention: Retention,
): string[] {
  const warnings = [...unknown.values()].map(
    (error) => `no blob was pruned, because the blobs of one build are unknown: ${error.message}`,
  )
  if (isAboveCap) {
    const sizes = `have ${formatBytes(bytes)}, more than the limit of ${formatBytes(retention.bytes)}`
    warnings.push(`the current build and the one before it ${sizes}. Only these two are kept.`)
  }
  if (missing.size > 0) {
    const what = pluralize(missing.size, 'build')
    warnings.push(
      `the store does not have the manifest of ${what} in its history (${joinFirstNames([...missing].map(shortId))}). Publish a missing build again to serve it.`,
    )
  }
  return warnings
}
