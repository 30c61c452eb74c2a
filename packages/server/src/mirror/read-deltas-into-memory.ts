import { deltaHeader, dictionariesOf } from '@serve-dist/manifest'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import type { DeltasDocument, NamedBlob } from '@serve-dist/store'
import { createBodyReader } from '../files/read-body.ts'
import type { StoredDelta, StoredDeltas } from '../site/kept-build.ts'
import type { StoredBytes } from '../site/site.ts'
import type { Generation } from './cached-generation.ts'
import type { CachedBuilds } from './open-mirror.ts'

/** Concurrent fetches. */
const fetchesAtOnce = 16

/** The place of deltas: the cache of a store, or a folder. */
export type DeltaCache = Pick<CachedBuilds, 'readDeltas' | 'fetch' | 'fileOf'>

/** A delta of a deltas document. */
export interface NamedDelta {
  readonly file: string
  readonly dictionary: string
  readonly coding: StoredDelta['coding']
  readonly blob: NamedBlob
}

/**
 * Reads deltas of a build into memory, the smallest first, until the budget is used. It never rejects. If a
 * delta is unavailable, the client gets the normal variant.
 *
 * @param room - the budget in bytes.
 * @returns `undefined` if the build has no deltas.
 */
export async function readDeltasIntoMemory(
  mirror: DeltaCache,
  { id, manifest }: Pick<Generation, 'id' | 'manifest'>,
  room: number,
): Promise<StoredDeltas | undefined> {
  const document = await mirror.readDeltas(id)
  if (document === undefined) return undefined
  const files = new Set([...dictionariesOf(manifest).values()].map(({ file }) => file.sha256))
  const wanted = deltasIn(document).filter(({ file }) => files.has(file))
  const chosen = selectWithinBudget(wanted, room)
  const bodies = await readBlobs(
    mirror,
    chosen.map(({ blob }) => blob),
  )
  return joinDeltas(chosen, bodies)
}

function deltasIn({ files }: DeltasDocument): readonly NamedDelta[] {
  const found: NamedDelta[] = []
  for (const [file, deltas] of files) {
    for (const [dictionary, { dcb, dcz }] of deltas) {
      if (dcb !== undefined) found.push({ file, dictionary, coding: 'dcb', blob: dcb })
      if (dcz !== undefined) found.push({ file, dictionary, coding: 'dcz', blob: dcz })
    }
  }
  return found
}

/** Returns the smallest deltas that fit into the budget. */
export function selectWithinBudget<Delta extends NamedDelta>(
  deltas: readonly Delta[],
  room: number,
): readonly Delta[] {
  let left = room
  return deltas
    .toSorted((one, other) => one.blob.size - other.blob.size)
    .filter(({ blob }) => {
      left -= blob.size
      return left >= 0
    })
}

/** Reads the available blobs. The keys are digests. */
async function readBlobs(
  mirror: DeltaCache,
  blobs: readonly NamedBlob[],
): Promise<ReadonlyMap<string, StoredBytes>> {
  const bodies = new Map<string, StoredBytes>()
  const readBody = createBodyReader()
  const readOne = async ({ sha256, size }: NamedBlob): Promise<void> => {
    if ((await mirror.fetch({ sha256, size })) === 'missing') return
    const file = mirror.fileOf(sha256)
    const read = async (): Promise<StoredBytes> => readBody(file, { sha256, size })
    const body = await read().catch(() => undefined)
    if (body !== undefined) bodies.set(sha256, body)
  }
  const distinct = new Map(blobs.map((blob) => [blob.sha256, blob])).values()
  // If the store is unreachable or the disk is full, the other fetches would fail as well.
  await forEachConcurrently(distinct, fetchesAtOnce, readOne).catch(() => {})
  return bodies
}

/** @param bodies - by digest. Deltas without a body, and bodies of other deltas, are skipped. */
export function joinDeltas(
  deltas: readonly NamedDelta[],
  bodies: ReadonlyMap<string, StoredBytes>,
): StoredDeltas {
  const joined = new Map<string, Map<string, StoredDelta[]>>()
  for (const { file, dictionary, coding, blob } of deltas) {
    const bytes = bodies.get(blob.sha256)
    const header = deltaHeader(coding, dictionary)
    // A browser would decode a delta of another dictionary to the wrong bytes.
    if (bytes?.body === undefined || Buffer.compare(bytes.body.subarray(0, header.length), header) !== 0)
      continue
    const ofFile = joined.get(file) ?? new Map<string, StoredDelta[]>()
    joined.set(file, ofFile)
    ofFile.set(dictionary, [...(ofFile.get(dictionary) ?? []), { coding, sha256: blob.sha256, bytes }])
  }
  return joined
}
