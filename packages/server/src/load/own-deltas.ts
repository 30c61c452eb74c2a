import { createHash } from 'node:crypto'
import { count } from '@serve-dist/foundation/text/count'
import { dictionariesOf, type Manifest } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import {
  availableDeltaCodings,
  type DeltaAnswer,
  type DeltaCoding,
  type DeltaPair,
  type DeltaThread,
  dictionaryGenerations,
  planDeltas,
  startDeltaThread,
  worthwhileDeltas,
} from '@serve-dist/store/deltas'
import { leaseFile } from '../files/kept-file.ts'
import { openStored, readRange } from '../files/stored-file.ts'
import { joinDeltas, type NamedDelta, withinRoom } from '../mirror/hold-deltas.ts'
import type { StoredDeltas } from '../site/kept-build.ts'
import type { StoredBytes, StreamedBytes } from '../site/site.ts'
import type { BuildSource, SwappedBuild } from './build-source.ts'

/** Milliseconds after which no other delta is begun, as `publish` has it. */
const budget = 30_000

/** A delta with its bytes. */
interface OwnDelta extends NamedDelta {
  readonly bytes: StoredBytes
}

/**
 * A folder whose builds give each other dictionaries: its files are marked from the start, and deltas are made after each
 * swap, from those builds before it of which this process has bytes.
 *
 * @returns the folder alone where the codecs of this Node ignore dictionaries.
 */
export function withOwnDeltas(source: BuildSource, onWarning: (message: string) => void): BuildSource {
  const codings = availableDeltaCodings()
  if (codings.length === 0) {
    onWarning(`deltas: none: Node ${process.version} cannot make them; serve with Node 22.19, 24.6 or newer`)
    return source
  }
  let earlier: readonly Manifest[] = []
  let making = new AbortController()
  /** What was made already, by its file and dictionary; nothing for those that were not worth it. */
  const known = new Map<string, readonly OwnDelta[]>()
  return {
    ...source,
    open: async (hasManifest) => ({
      ...(await source.open(hasManifest)),
      holdDeltas: async () => new Map(),
    }),
    makeDeltas(swap, put) {
      making.abort()
      making = new AbortController()
      const { signal } = making
      const { replaced, current } = swap
      const others = earlier.filter(({ buildId }) => buildId !== replaced.buildId)
      earlier = [withDictionariesAlone(replaced), ...others]
        .filter(({ buildId }) => buildId !== current.manifest.buildId)
        .slice(0, dictionaryGenerations)
      void makeAndPut({ swap, earlier, codings, known, signal }, put)
    },
    close() {
      making.abort()
      source.close?.()
    },
  }

  async function makeAndPut(given: Making, put: (deltas: StoredDeltas) => Promise<void>): Promise<void> {
    const problems = await makeAll(given).catch((error: unknown) => [reasonOf(error)])
    if (given.signal.aborted) return
    const deltas = [...known.values()].flat()
    if (deltas.length > 0) {
      await put(joinDeltas(deltas, new Map(deltas.map(({ blob, bytes }) => [blob.sha256, bytes]))))
    }
    if (problems.length > 0) {
      onWarning(`${count(problems.length, 'delta')} could not be made: ${problems[0]}`)
    }
  }
}

/** All of a build that is kept for the next ones. */
function withDictionariesAlone(manifest: Manifest): Manifest {
  return { ...manifest, files: [...dictionariesOf(manifest).values()].map(({ file }) => file) }
}

interface Making {
  readonly swap: SwappedBuild
  readonly earlier: readonly Manifest[]
  readonly codings: readonly DeltaCoding[]
  readonly known: Map<string, readonly OwnDelta[]>
  readonly signal: AbortSignal
}

/**
 * Leaves in `known` the deltas of the current build alone, as many as there is room for.
 *
 * @returns what went wrong.
 */
async function makeAll({ swap, earlier, codings, known, signal }: Making): Promise<readonly string[]> {
  const { current, kept, room } = swap
  const builds = earlier.map((manifest) => ({ manifest, deltas: undefined }))
  const { pairs } = planDeltas(current.manifest, builds, () => false)
  const planned = new Set(pairs.map(nameOf))
  for (const name of known.keys()) if (!planned.has(name)) known.delete(name)

  const bytesOf = new Map(
    [current, ...kept].flatMap(({ stored }) => [...stored].map(([{ sha256 }, bytes]) => [sha256, bytes])),
  )
  const problems: string[] = []
  const end = performance.now() + budget
  let thread: DeltaThread | undefined
  const stop = (): void => void thread?.end()
  signal.addEventListener('abort', stop)
  try {
    for (const pair of pairs) {
      if (signal.aborted || performance.now() >= end) break
      if (known.has(nameOf(pair))) continue
      const { file, dictionary } = pair
      const [from, to] = [bytesOf.get(dictionary.sha256), bytesOf.get(file.sha256)]
      if (from === undefined || to === undefined) continue
      let answer: DeltaAnswer
      try {
        const bytes = await readBytes(to, file.sha256)
        const source = { codings, bytes, dictionary: await readBytes(from, dictionary.sha256) }
        if (signal.aborted) break
        thread ??= startDeltaThread()
        answer = await thread.encode(source)
      } catch (error) {
        answer = { problem: reasonOf(error) }
      }
      if (signal.aborted) break
      if ('problem' in answer) {
        problems.push(`${file.path}: ${answer.problem}`)
        continue
      }
      const deltas = worthwhileDeltas(file, answer.deltas)
      known.set(
        nameOf(pair),
        deltas.map(({ coding, delta }) => ownDelta(pair, coding, delta)),
      )
      letGoBeyond(known, room)
    }
  } finally {
    signal.removeEventListener('abort', stop)
    await thread?.end()
  }
  if (!signal.aborted) letGoBeyond(known, room)
  return problems
}

function nameOf({ file, dictionary }: DeltaPair): string {
  return `${file.sha256} ${dictionary.sha256}`
}

function ownDelta({ file, dictionary }: DeltaPair, coding: DeltaCoding, delta: Uint8Array): OwnDelta {
  const body = new Uint8Array(delta)
  const size = body.length
  const sha256 = createHash('sha256').update(body).digest('hex')
  return {
    file: file.sha256,
    dictionary: dictionary.sha256,
    coding,
    blob: { sha256, size },
    bytes: { size, body },
  }
}

/** What there is no room for is not made again for the same build, nor for the next. */
function letGoBeyond(known: Map<string, readonly OwnDelta[]>, room: number): void {
  const deltas = [...known.values()].flat()
  if (deltas.reduce((sum, { blob }) => sum + blob.size, 0) <= room) return
  const held = new Set(withinRoom(deltas, room))
  for (const [name, all] of known)
    known.set(
      name,
      all.filter((delta) => held.has(delta)),
    )
}

/** A copy: a thread is sent all of the memory that a body shares with others. */
async function readBytes(stored: StoredBytes, sha256: string): Promise<Uint8Array> {
  return stored.body === undefined ? await readStreamed(stored, sha256) : stored.body.slice()
}

async function readStreamed(stored: StreamedBytes, sha256: string): Promise<Uint8Array> {
  const lease = leaseFile(stored)
  try {
    const file = await openStored(stored, lease)
    try {
      const hash = createHash('sha256')
      const chunks: Buffer[] = []
      for await (const chunk of readRange(file, { kind: 'file', stored, first: 0, end: stored.size })) {
        hash.update(chunk)
        chunks.push(chunk)
      }
      if (hash.digest('hex') === sha256) return Buffer.concat(chunks)
      throw new TypeError(`${stored.file} has other bytes than its manifest says`)
    } finally {
      await file.close()
    }
  } finally {
    lease?.release()
  }
}
