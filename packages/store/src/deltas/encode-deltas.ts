import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { createWeightedSemaphore } from '@serve-dist/foundation/concurrency/create-weighted-semaphore'
import { countUsableCores } from '@serve-dist/foundation/process/count-usable-cores'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import type { DeltaCoding, ManifestFile } from '@serve-dist/manifest'
import type { Stoppable } from '../backend.ts'
import type { NamedBlob } from '../layout.ts'
import { sumBytes } from '../sum-bytes.ts'
import type { DeltasDocument, DeltasOfFile, DeltaVariants } from './deltas-document.ts'
import type { DeltaPair, DeltasPlan } from './plan-deltas.ts'
import {
  type DeltaAnswer,
  type DeltaProcess,
  type DeltaTask,
  startDeltaProcess,
} from './start-delta-process.ts'
import { worthwhileDeltas } from './worthwhile-deltas.ts'

/** The maximum number of file bytes in memory: four pairs of the largest files. */
const mostHeld = 64 * 1024 * 1024

/** The time in milliseconds after which the encoding ends, unless the caller sets another. */
export const defaultDeltaBudget = 30_000

/** The maximum delay of a timer in milliseconds. */
const longestTimeout = 2 ** 31 - 1

/** The place of the files that deltas are encoded from, and of the deltas. */
export interface DeltaFiles {
  readFile(file: ManifestFile): Promise<Uint8Array>
  /** Returns `undefined` if the earlier file is missing or does not match its digest. */
  readDictionary(blob: NamedBlob): Promise<Uint8Array | undefined>
  writeDelta(blob: NamedBlob, delta: Uint8Array): Promise<void>
}

export interface EncodeDeltasOptions extends Stoppable {
  readonly codings: readonly DeltaCoding[]
  /** The time at which the encoding ends, by `performance.now()`. */
  readonly endsAt: number
  /** The maximum number of processes. @default the number of usable cores */
  readonly processes?: number
  /** The maximum number of pairs at a time. */
  readonly concurrency: number
  /** Called before the first delta and after each delta. */
  readonly onDelta: (progress: DeltaProgress) => void
}

/** The number of deltas that are encoded or skipped. */
export interface DeltaProgress {
  readonly deltas: number
  readonly allDeltas: number
  /** The number of bytes of their files. */
  readonly bytes: number
  readonly allBytes: number
}

/** The results of the planned deltas. */
export interface DeltaCounts {
  /** The number of new deltas, in any coding. */
  readonly made: number
  /** The number of bytes of the new blobs. */
  readonly bytes: number
  /** The number of deltas that were encoded and are too large to be useful. */
  readonly tooLarge: number
  /** The number of deltas that were skipped for lack of time. */
  readonly leftOut: number
}

export interface EncodedDeltas {
  /** The deltas that were carried over, and the new ones. */
  readonly files: DeltasDocument['files']
  readonly counts: DeltaCounts
  readonly warnings: readonly string[]
}

interface MadeDelta {
  readonly pair: DeltaPair
  readonly variants: DeltaVariants
}

/** Encodes the deltas of a plan, and writes those that are small enough. */
export async function encodeDeltas(
  { carried, pairs }: DeltasPlan,
  place: DeltaFiles,
  { codings, endsAt, processes = countUsableCores(), concurrency, onDelta, signal }: EncodeDeltasOptions,
): Promise<EncodedDeltas> {
  const deltas: MadeDelta[] = []
  const problems: string[] = []
  const counts = { bytes: 0, tooLarge: 0, leftOut: 0 }
  const inMemory = createWeightedSemaphore(mostHeld)
  // The timer can be a millisecond early.
  let hasEnded = false
  const isOver = (): boolean => hasEnded || performance.now() >= endsAt
  const encoders = createEncoders(processes, isOver)
  const end = (): void => {
    hasEnded = true
    encoders.end()
  }
  const deadline = setTimeout(end, Math.min(Math.max(endsAt - performance.now(), 0), longestTimeout))
  signal?.addEventListener('abort', end)

  const makePair = async (pair: DeltaPair): Promise<void> => {
    signal?.throwIfAborted()
    if (isOver()) {
      counts.leftOut += 1
      return
    }
    const [file, dictionary] = await Promise.all([
      place.readFile(pair.file),
      place.readDictionary(pair.dictionary),
    ])
    if (dictionary === undefined) {
      problems.push(`${pair.file.path}: the earlier file is missing or damaged`)
      return
    }
    const answer = await encoders.encode({ codings, dictionary, bytes: file })
    signal?.throwIfAborted()
    if (answer === undefined || ('problem' in answer && isOver())) {
      counts.leftOut += 1
      return
    }
    if ('problem' in answer) {
      problems.push(`${pair.file.path}: ${answer.problem}`)
      return
    }
    const variants: { [Coding in DeltaCoding]?: NamedBlob } = {}
    for (const { coding, delta } of worthwhileDeltas(pair.file, answer.deltas)) {
      const blob = { sha256: sha256Of(delta), size: delta.length }
      await place.writeDelta(blob, delta)
      variants[coding] = blob
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
    clearTimeout(deadline)
    signal?.removeEventListener('abort', end)
    end()
  }
  const [problem] = problems
  const warnings =
    problem === undefined ? [] : [`${pluralize(problems.length, 'delta')} could not be encoded: ${problem}`]
  return { files: withMade(carried, deltas), counts: { ...counts, made: deltas.length }, warnings }
}

interface Encoders {
  /** Returns `undefined` if the time is over before the encoding begins. */
  encode(task: DeltaTask): Promise<DeltaAnswer | undefined>
  end(): void
}

/** Creates a pool of up to `most` processes. Each starts when it is needed. */
function createEncoders(most: number, isOver: () => boolean): Encoders {
  const run = createWeightedSemaphore(most)
  const idle: DeltaProcess[] = []
  const all = new Set<DeltaProcess>()
  return {
    encode: async (task) =>
      await run(async () => {
        if (isOver()) return undefined
        const encoder = idle.pop() ?? startDeltaProcess()
        all.add(encoder)
        const answer = await encoder.encode(task)
        // After a failure, the process may have ended.
        if (!('problem' in answer)) idle.push(encoder)
        return answer
      }),
    end: () => {
      for (const encoder of all) encoder.end()
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
