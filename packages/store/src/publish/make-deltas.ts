import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { type DeltaCoding } from '@serve-dist/manifest'
import type { Stoppable, StoreBackend } from '../backend.ts'
import type { History } from '../layout.ts'
import { type Inventory, isListed, keyToSend } from '../list-objects.ts'
import type { ResolvedPublishOptions } from './publish-options.ts'
import { type Build, buildMismatchError } from './read-source-build.ts'
import { readBlob } from '../read-blob.ts'
import { undefinedIfUnreadable, readDeltas, readGeneration } from '../read-documents.ts'
import { availableDeltaCodings } from '../deltas/delta-codec.ts'
import type { DeltasDocument } from '../deltas/deltas-document.ts'
import { type DeltaCounts, type DeltaFiles, encodeDeltas } from '../deltas/encode-deltas.ts'
import {
  type DeltaPair,
  dictionaryGenerations,
  type DictionaryBuild,
  planDeltas,
} from '../deltas/plan-deltas.ts'

/** The result of encoding a build's deltas. */
export interface DeltasSummary extends DeltaCounts {
  /** The codings that this Node.js can encode. If empty, no delta was encoded. */
  readonly codings: readonly DeltaCoding[]
  /** Whether the store already had the document, which stays. */
  readonly isThere: boolean
  /** The number of new deltas, in any coding. For a dry run, the number of candidates. */
  readonly made: number
  /** The number of deltas that were encoded for an earlier build. */
  readonly reused: number
  readonly milliseconds: number
}

/** The deltas of a build. */
export interface MadeDeltas {
  readonly summary: DeltasSummary
  readonly earlier: readonly DictionaryBuild[]
  /** All deltas of the build. Absent if no document is written. */
  readonly files?: DeltasDocument['files']
  readonly warnings: readonly string[]
}

const none = { isThere: false, made: 0, bytes: 0, reused: 0, tooLarge: 0, leftOut: 0, milliseconds: 0 }

/**
 * Encodes the deltas of a build against earlier builds of the store and uploads each.
 *
 * @returns `undefined` if deltas are disabled.
 * @throws OperatorError `SD_MANIFEST_MISMATCH` if a file does not match the manifest.
 */
export async function makeDeltas(
  store: StoreBackend,
  { build, inventory }: { readonly build: Build; readonly inventory: Inventory },
  options: ResolvedPublishOptions,
): Promise<MadeDeltas | undefined> {
  if (!options.makesDeltas) return undefined
  const codings = availableDeltaCodings()
  if (codings.length === 0) return { summary: { ...none, codings }, earlier: [], warnings: [] }
  const began = performance.now()
  const { history } = inventory
  const withHistory = { ...options, history }
  const id = build.manifest.buildId
  const ids = history.history.map((row) => row.id)
  const others = [...new Set(ids)].filter((other) => other !== id).slice(0, dictionaryGenerations)
  const earlier = (
    await Promise.all(others.map(async (other) => await readEarlier(store, other, withHistory)))
  ).flat()
  const there = ids.includes(id) ? await undefinedIfUnreadable(readDeltas(store, id, withHistory)) : undefined
  if (there !== undefined) {
    return { summary: { ...none, codings, isThere: true }, earlier, files: there.files, warnings: [] }
  }

  const plan = planDeltas(build.manifest, earlier, (blob) => isListed(inventory, blob))
  const reused = [...plan.carried.values()].reduce((sum, deltas) => sum + deltas.size, 0)
  const summary = { ...none, codings, reused }
  if (options.isDryRun) {
    return { summary: { ...summary, made: plan.pairs.length }, earlier, files: plan.carried, warnings: [] }
  }
  const { deltaBudget, concurrency, onDelta, signal } = options
  const place: DeltaFiles = {
    readFile: async (file) => await readSource(build.directory, file),
    readDictionary: async (blob) => await readBlob(store, blob, { history, signal }),
    writeDelta: async (blob, delta) => void (await store.put(keyToSend(inventory, blob), delta, { signal })),
  }
  const limits = { codings, endsAt: began + deltaBudget, concurrency, onDelta, signal }
  const { files, counts, warnings } = await encodeDeltas(plan, place, limits)
  const milliseconds = Math.round(performance.now() - began)
  return { summary: { ...summary, ...counts, milliseconds }, earlier, files, warnings }
}

async function readEarlier(
  store: StoreBackend,
  id: string,
  options: Stoppable & { readonly history: History },
): Promise<readonly DictionaryBuild[]> {
  const [manifest, deltas] = await Promise.all([
    undefinedIfUnreadable(readGeneration(store, id, options)),
    undefinedIfUnreadable(readDeltas(store, id, options)),
  ])
  return manifest === undefined ? [] : [{ manifest, deltas }]
}

/** Checks the digest, because a delta of a changed file would decode to the wrong bytes. */
async function readSource(directory: string, { path, sha256 }: DeltaPair['file']): Promise<Uint8Array> {
  const bytes = await readFile(join(directory, path))
  if (sha256Of(bytes) === sha256) return bytes
  throw buildMismatchError(directory, [`${path}: does not match the manifest (SHA-256 differs)`])
}
