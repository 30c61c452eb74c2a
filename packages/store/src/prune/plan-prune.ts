import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { deltasKey } from '../deltas/deltas-document.ts'
import { generationKey, generationsPrefix, type History } from '../layout.ts'
import { keptGenerations, type KeptGenerations, type Retention } from '../history/kept-generations.ts'
import { withOnly } from '../history/next-history.ts'
import { type ListedObjects, listObjects } from '../list-objects.ts'
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
    listed,
    known,
  }: {
    readonly history: History
    readonly listed: ListedObjects
    readonly known?: ReadonlyMap<string, GenerationBlobs>
  },
  { retention, protectedFor, signal }: PruneLimits,
): Promise<PrunePlan> {
  const now = store.now()
  const isOld = ({ modified }: { readonly modified: number }): boolean => now - modified > protectedFor
  const rows = new Set(history.history.map(({ id }) => id))
  const stored = await listObjects(store, generationsPrefix, { signal })
  // Recent manifests without a row belong to a publish that is in progress or was killed.
  const young = [...stored].filter(([id, object]) => !rows.has(id) && !isOld(object)).map(([id]) => id)
  const read = await readBuilds(store, [...rows, ...young], { known, signal })
  const isThere = (id: string): boolean => !read.missing.has(id) || id === history.history[0]?.id
  const there = withOnly(history, new Set([...rows].filter(isThere)))
  const keeping = keptGenerations(there, read.blobs, retention, now)
  const kept = keeping.ids

  const named = new Set<string>()
  for (const id of [...kept, ...young]) {
    for (const { sha256 } of read.blobs.get(id) ?? []) named.add(sha256)
  }
  const isKept = (id: string): boolean => kept.includes(id) || young.includes(id)
  const pruned = [...stored.keys()].filter((id) => !isKept(id))
  // A publish writes the delta document before the manifest.
  const orphans = [...read.deltasObjects].filter(
    ([id, object]) => !isKept(id) && (stored.has(id) || isOld(object)),
  )
  // The blobs of an unreadable manifest are unknown. A later release may have published it.
  const unknown = new Map([...read.unreadable, ...read.unreadableDeltas].filter(([id]) => isKept(id)))
  const doomed =
    unknown.size > 0 ? [] : [...listed].filter(([sha256, object]) => !named.has(sha256) && isOld(object))
  return {
    history: withOnly(there, new Set(kept)),
    kept,
    generations: read.generations,
    // Manifests go first. The next prune finds blobs that no manifest names.
    keys: [
      ...pruned.map(generationKey),
      ...orphans.map(([id]) => deltasKey(id)),
      ...doomed.map(([, { key }]) => key),
    ],
    warnings: warningsOf(keeping, { missing: read.missing, unknown }, retention),
  }
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
      `the store does not have the manifest of ${what} in its history (${joinFirstNames([...missing])}). Publish a missing build again to serve it.`,
    )
  }
  return warnings
}
