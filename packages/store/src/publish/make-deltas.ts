import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import { count } from '@serve-dist/foundation/text/count'
import { forEachAtOnce } from '@serve-dist/foundation/concurrency/for-each-at-once'
import { usableCores } from '@serve-dist/foundation/process/usable-cores'
import type { Stoppable, StoreBackend } from '../backend.ts'
import { bytesOf } from '../bytes-of.ts'
import { blobKey, type History, type NamedBlob } from '../layout.ts'
import { isListed, type ListedBlobs } from '../list-blobs.ts'
import type { ResolvedPublishOptions } from './publish-options.ts'
import { type Build, notAsBuilt } from './read-build.ts'
import { readBlob } from '../read-blob.ts'
import { readDeltas, readGeneration } from '../read-documents.ts'
import { createGate } from '../deltas/create-gate.ts'
import { availableDeltaCodings, type DeltaCoding } from '../deltas/delta-codec.ts'
import type { DeltasDocument, DeltasOfFile, DeltaVariants } from '../deltas/deltas-document.ts'
import {
  type DeltaPair,
  dictionaryGenerations,
  type EarlierBuild,
  planDeltas,
} from '../deltas/plan-deltas.ts'
import { type DeltaThread, startDeltaThread } from '../deltas/start-delta-thread.ts'
import { worthwhileDeltas } from '../deltas/worthwhile-deltas.ts'

/** Bytes of files that are held for threads at once: four pairs of the largest. */
const mostHeld = 64 * 1024 * 1024

/** What became of a build's deltas. */
export interface MadeDeltas {
  /** Those that the codecs of this Node can make; with none, nothing was done. */
  readonly codings: readonly DeltaCoding[]
  readonly earlier: readonly EarlierBuild[]
  /** All that the build has now; absent where it gets no document. */
  readonly files?: DeltasDocument['files']
  /** Whether the document was there, and stays. */
  readonly isThere: boolean
  /** How many were made and are kept, in any coding; of a dry run, how many would be tried. */
  readonly made: number
  /** Of the blobs that were made. */
  readonly bytes: number
  /** How many were made for an earlier build already. */
  readonly reused: number
  /** How many were made, and are not small enough. */
  readonly tooLarge: number
  /** How many there was no time for. */
  readonly leftOut: number
  readonly milliseconds: number
  readonly warnings: readonly string[]
}

const none = { made: 0, bytes: 0, reused: 0, tooLarge: 0, leftOut: 0, milliseconds: 0, warnings: [] }

/**
 * Makes the deltas of a build against earlier ones of the store, and sends each.
 *
 * @returns `undefined` where nobody wants them.
 * @throws OperatorError `SD_MANIFEST_MISMATCH` where a file has other bytes than the manifest says.
 */
export async function makeDeltas(
  store: StoreBackend,
  {
    build,
    history,
    listed,
  }: { readonly build: Build; readonly history: History; readonly listed: ListedBlobs },
  options: ResolvedPublishOptions,
): Promise<MadeDeltas | undefined> {
  if (!options.makesDeltas) return undefined
  const codings = availableDeltaCodings()
  if (codings.length === 0) return { ...none, codings, earlier: [], isThere: false }
  const began = performance.now()
  const id = build.manifest.buildId
  const ids = history.history.map((row) => row.id)
  const others = [...new Set(ids)].filter((other) => other !== id).slice(0, dictionaryGenerations)
  const earlier = (
    await Promise.all(others.map(async (other) => await readEarlier(store, other, options)))
  ).flat()
  const there = ids.includes(id) ? await readSoundDeltas(store, id, options) : undefined
  if (there !== undefined) return { ...none, codings, earlier, files: there.files, isThere: true }

  const { carried, pairs } = planDeltas(build.manifest, earlier, (blob) => isListed(listed, blob))
  const reused = [...carried.values()].reduce((sum, deltas) => sum + deltas.size, 0)
  const planned = { ...none, codings, earlier, files: carried, isThere: false, reused }
  if (options.isDryRun) return { ...planned, made: pairs.length }
  const made = await makePairs(store, { directory: build.directory, pairs, codings, began }, options)
  return {
    ...planned,
    ...made,
    files: withMade(carried, made.deltas),
    milliseconds: Math.round(performance.now() - began),
  }
}

/** The deltas of a build; one that cannot be read is as good as none. */
export async function readSoundDeltas(
  store: StoreBackend,
  id: string,
  { signal }: Stoppable,
): Promise<DeltasDocument | undefined> {
  return await orNothing(readDeltas(store, id, { signal }))
}

/** A build that is not there, or cannot be read, gives no dictionaries. */
async function readEarlier(
  store: StoreBackend,
  id: string,
  { signal }: Stoppable,
): Promise<readonly EarlierBuild[]> {
  const [manifest, deltas] = await Promise.all([
    orNothing(readGeneration(store, id, { signal })),
    readSoundDeltas(store, id, { signal }),
  ])
  return manifest === undefined ? [] : [{ manifest, deltas }]
}

async function orNothing<Document>(reading: Promise<Document>): Promise<Document | undefined> {
  try {
    return await reading
  } catch (error) {
    const isUnsound =
      error instanceof OperatorError && /^SD_(?:STORE_INVALID|GENERATION_MISSING)$/.test(error.code)
    if (isUnsound) return undefined
    throw error
  }
}

interface MadeDelta {
  readonly pair: DeltaPair
  readonly variants: DeltaVariants
}

interface Making {
  readonly directory: string
  readonly pairs: readonly DeltaPair[]
  readonly codings: readonly DeltaCoding[]
  /** By `performance.now()`. */
  readonly began: number
}

async function makePairs(
  store: StoreBackend,
  { directory, pairs, codings, began }: Making,
  { deltaBudget, concurrency, onDelta, signal }: ResolvedPublishOptions,
): Promise<
  Pick<MadeDeltas, 'made' | 'bytes' | 'tooLarge' | 'leftOut' | 'warnings'> & {
    readonly deltas: readonly MadeDelta[]
  }
> {
  const deltas: MadeDelta[] = []
  const problems: string[] = []
  let [bytes, tooLarge, leftOut] = [0, 0, 0]
  const isOver = (): boolean => performance.now() - began >= deltaBudget
  const inMemory = createGate(mostHeld)
  const threads = createThreads(usableCores())
  const stop = (): void => void threads.end()
  signal?.addEventListener('abort', stop)

  const makePair = async (pair: DeltaPair): Promise<void> => {
    signal?.throwIfAborted()
    if (isOver()) {
      leftOut += 1
      return
    }
    const [file, dictionary] = await Promise.all([
      readSource(directory, pair.file),
      readBlob(store, pair.dictionary, { signal }),
    ])
    if (dictionary === undefined) {
      problems.push(`${pair.file.path}: the store does not have the bytes of the earlier file`)
      return
    }
    const answer = await threads.use(async (thread) =>
      isOver() ? undefined : await thread.encode({ codings, dictionary, bytes: file }),
    )
    signal?.throwIfAborted()
    if (answer === undefined) {
      leftOut += 1
      return
    }
    if ('problem' in answer) {
      problems.push(`${pair.file.path}: ${answer.problem}`)
      return
    }
    const variants: { [Coding in DeltaCoding]?: NamedBlob } = {}
    for (const { coding, delta } of worthwhileDeltas(pair.file, answer.deltas)) {
      variants[coding] = await sendDelta(store, delta, signal)
      bytes += delta.length
    }
    if (Object.keys(variants).length > 0) deltas.push({ pair, variants })
    else tooLarge += 1
  }
  const all = { allDeltas: pairs.length, allBytes: bytesOf(pairs.map(({ file }) => file)) }
  const done = { deltas: 0, bytes: 0 }
  try {
    if (pairs.length > 0) onDelta({ ...done, ...all })
    await forEachAtOnce(pairs, concurrency, async (pair) => {
      await inMemory(pair.file.size + pair.dictionary.size, async () => await makePair(pair))
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
    problem === undefined ? [] : [`${count(problems.length, 'delta')} could not be made: ${problem}`]
  return { deltas, made: deltas.length, bytes, tooLarge, leftOut, warnings }
}

/** Another file than the one that was published would be decoded out of it. */
async function readSource(directory: string, { path, sha256 }: DeltaPair['file']): Promise<Uint8Array> {
  const bytes = await readFile(join(directory, path))
  if (digestOf(bytes) === sha256) return bytes
  throw notAsBuilt(directory, [`${path}: has other bytes than the manifest says (SHA-256 differs)`])
}

async function sendDelta(
  store: StoreBackend,
  delta: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<NamedBlob> {
  const sha256 = digestOf(delta)
  await store.put(blobKey(sha256), delta, { signal })
  return { sha256, size: delta.length }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

interface Threads {
  use<Result extends object | undefined>(work: (thread: DeltaThread) => Promise<Result>): Promise<Result>
  end(): Promise<void>
}

/** So many threads, each started when there is work for it. */
function createThreads(most: number): Threads {
  const gate = createGate(most)
  const idle: DeltaThread[] = []
  const all = new Set<DeltaThread>()
  return {
    use: async (work) =>
      await gate(1, async () => {
        const thread = idle.pop() ?? startDeltaThread()
        all.add(thread)
        const result = await work(thread)
        // One that has failed may have ended.
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
