import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { type DeltaCoding } from '@serve-dist/manifest'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { countUsableCores } from '@serve-dist/foundation/process/count-usable-cores'
import type { Stoppable, StoreBackend } from '../backend.ts'
import { sumBytes } from '../sum-bytes.ts'
import type { History, NamedBlob } from '../layout.ts'
import { type Inventory, isListed, keyToSend } from '../list-objects.ts'
import type { ResolvedPublishOptions } from './publish-options.ts'
import { type Build, buildMismatchError } from './read-source-build.ts'
import { readBlob } from '../read-blob.ts'
import { undefinedIfUnreadable, readDeltas, readGeneration } from '../read-documents.ts'
import { createWeightedSemaphore } from '@serve-dist/foundation/concurrency/create-weighted-semaphore'
import { availableDeltaCodings } from '../deltas/delta-codec.ts'
import type { DeltasDocument, DeltasOfFile, DeltaVariants } from '../deltas/deltas-document.ts'
import {
  type DeltaPair,
  dictionaryGenerations,
  type DictionaryBuild,
  planDeltas,
} from '../deltas/plan-deltas.ts'
import { type DeltaThread, startDeltaThread } from '../deltas/start-delta-thread.ts'
import { worthwhileDeltas } from '../deltas/worthwhile-deltas.ts'

/** The maximum number of file bytes in memory: four pairs of the largest files. */
const mostHeld = 64 * 1024 * 1024

/** The result of encoding a build's deltas. */
export interface DeltasSummary {
  /** The codings that this Node.js can encode. If empty, no delta was encoded. */
  readonly codings: readonly DeltaCoding[]
  /** Whether the store already had the document, which stays. */
  readonly isThere: boolean
  /** The number of new deltas, in any coding. For a dry run, the number of candidates. */
  readonly made: number
  /** The number of bytes of the new blobs. */
  readonly bytes: number
  /** The number of deltas that were encoded for an earlier build. */
  readonly reused: number
  /** The number of deltas that were encoded and are too large to be useful. */
  readonly tooLarge: number
  /** The number of deltas that were skipped for lack of time. */
  readonly leftOut: number
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

  const { carried, pairs } = planDeltas(build.manifest, earlier, (blob) => isListed(inventory, blob))
  const reused = [...carried.values()].reduce((sum, deltas) => sum + deltas.size, 0)
  const summary = { ...none, codings, reused }
  if (options.isDryRun) {
    return { summary: { ...summary, made: pairs.length }, earlier, files: carried, warnings: [] }
  }
  const making = { directory: build.directory, pairs, codings, began, inventory }
  const { deltas, counts, warnings } = await makePairs(store, making, options)
  const milliseconds = Math.round(performance.now() - began)
  return {
    summary: { ...summary, ...counts, made: deltas.length, milliseconds },
    earlier,
    files: withMade(carried, deltas),
    warnings,
  }
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

interface MadeDelta {
  readonly pair: DeltaPair
  readonly variants: DeltaVariants
}

interface Making {
  readonly directory: string
  readonly pairs: readonly DeltaPair[]
  readonly codings: readonly DeltaCoding[]
  /** The start time, by `performance.now()`. */
  readonly began: number
  readonly inventory: Inventory
}

async function makePairs(
  store: StoreBackend,
  { directory, pairs, codings, began, inventory }: Making,
  { deltaBudget, concurrency, onDelta, signal }: ResolvedPublishOptions,
): Promise<{
  readonly deltas: readonly MadeDelta[]
  readonly counts: Pick<DeltasSummary, 'bytes' | 'tooLarge' | 'leftOut'>
  readonly warnings: readonly string[]
}> {
  const deltas: MadeDelta[] = []
  const problems: string[] = []
  const counts = { bytes: 0, tooLarge: 0, leftOut: 0 }
  const isOver = (): boolean => performance.now() - began >= deltaBudget
  const inMemory = createWeightedSemaphore(mostHeld)
  const threads = createThreads(countUsableCores())
  const stop = (): void => void threads.end()
  signal?.addEventListener('abort', stop)

  const makePair = async (pair: DeltaPair): Promise<void> => {
    signal?.throwIfAborted()
    if (isOver()) {
      counts.leftOut += 1
      return
    }
    const [file, dictionary] = await Promise.all([
      readSource(directory, pair.file),
      readBlob(store, pair.dictionary, { history: inventory.history, signal }),
    ])
    if (dictionary === undefined) {
      problems.push(`${pair.file.path}: the store does not have the earlier file`)
      return
    }
    const answer = await threads.use(async (thread) =>
      isOver() ? undefined : await thread.encode({ codings, dictionary, bytes: file }),
    )
    signal?.throwIfAborted()
    if (answer === undefined) {
      counts.leftOut += 1
      return
    }
    if ('problem' in answer) {
      problems.push(`${pair.file.path}: ${answer.problem}`)
      return
    }
    const variants: { [Coding in DeltaCoding]?: NamedBlob } = {}
    for (const { coding, delta } of worthwhileDeltas(pair.file, answer.deltas)) {
      variants[coding] = await sendDelta(store, { delta, inventory }, signal)
      counts.bytes += delta.length
    }
    if (Object.keys(variants).length > 0) deltas.push({ pair, variants })
    else counts.tooLarge += 1
  }
  const all = { allDeltas: pairs.length, allBytes: sumBytes(pairs.map(({ file }) => file)) }
  const done = { deltas: 0, bytes: 0 }
  try {
    if (pairs.length > 0) onDelta({ ...done, ...all })
    await forEachConcurrently(pairs, concurrency, async (pair) => {
      await inMemory(async () => await makePair(pair), pair.file.size + pair.dictionary.size)
      done.deltas += 1
      done.bytes += pair.file.size
      onDelta({ ...done, ...all })
    })
  } finally {
    signal?.removeEventListener('abort', stop)
    await threads.end()
  }
  const [problem] = problems
  const warnings =
    problem === undefined ? [] : [`${pluralize(problems.length, 'delta')} could not be encoded: ${problem}`]
  return { deltas, counts, warnings }
}

/** Checks the digest, because a delta of a changed file would decode to the wrong bytes. */
async function readSource(directory: string, { path, sha256 }: DeltaPair['file']): Promise<Uint8Array> {
  const bytes = await readFile(join(directory, path))
  if (sha256Of(bytes) === sha256) return bytes
  throw buildMismatchError(directory, [`${path}: does not match the manifest (SHA-256 differs)`])
}

async function sendDelta(
  store: StoreBackend,
  { delta, inventory }: { readonly delta: Uint8Array; readonly inventory: Inventory },
  signal: AbortSignal | undefined,
): Promise<NamedBlob> {
  const blob = { sha256: sha256Of(delta), size: delta.length }
  await store.put(keyToSend(inventory, blob), delta, { signal })
  return blob
}

interface Threads {
  use<Result extends object | undefined>(work: (thread: DeltaThread) => Promise<Result>): Promise<Result>
  end(): Promise<void>
}

/** Creates a pool of up to `most` threads. Each starts when it is needed. */
function createThreads(most: number): Threads {
  const run = createWeightedSemaphore(most)
  const idle: DeltaThread[] = []
  const all = new Set<DeltaThread>()
  return {
    use: async (work) =>
      await run(async () => {
        const thread = idle.pop() ?? startDeltaThread()
        all.add(thread)
        const result = await work(thread)
        // After a failure, the thread may have ended.
        if (result === undefined || !('problem' in result)) idle.push(thread)
        return result
      }),
    end: async () => {
      await Promise.all([...all].map(async (thread) => await thread.end()))
    },
  }
}

function withMade(carried: DeltasDocument['files'], made: readonly MadeDelta[]): DeltasDocument['files'] {
  const files = new Map<string, DeltasOfFile>(carried)
  for (const { pair, variants } of made) {
    const deltas = files.get(pair.file.sha256) ?? []
    files.set(pair.file.sha256, new Map([...deltas, [pair.dictionary.sha256, variants]]))
  }
  return files
}
