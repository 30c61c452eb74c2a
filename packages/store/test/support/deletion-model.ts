import { withOnlySuffixes } from '../../src/history/next-history.ts'
import { blobKey, type History, keyIn, splitKey, withKeys } from '../../src/layout.ts'
import { keyToWrite, selectAvailable } from '../../src/list-objects.ts'

/*
 * A model of publishes and prunes (docs/decisions/024-stores.md). It visits every state that any interleaving reaches.
 * A process that is suspended or killed takes no further step, so those states are included. Its queued deletions may
 * still run at any time.
 */

/** A publish or a prune. Each process tries twice to swap. */
export interface Change {
  /** The digests of the build that it publishes. */
  readonly build?: string
  /** The number of builds that it keeps. */
  readonly keeps: number
}

/** Weakens the protocol, to show that the model finds the lost blobs. */
export type Weakness = 'uses deleted keys' | 'ends with a running request' | 'lists before it reads'

interface Process {
  readonly step: 'read' | 'list' | 'put' | 'swap' | 'delete' | 'end' | 'ended'
  readonly tries: number
  readonly head: Head
  readonly deleted: readonly string[]
  readonly objects: readonly string[]
  readonly keys: readonly string[]
}

interface Head {
  readonly version: number
  /** The digests of each build, newest first. */
  readonly builds: readonly string[]
  readonly suffixes: Readonly<Record<string, string>>
  /** The numbers of processes whose deletions may still run. */
  readonly deletions: readonly number[]
}

interface State {
  readonly head: Head
  readonly objects: readonly string[]
  /** The keys of each deletion. */
  readonly documents: Readonly<Record<number, readonly string[]>>
  /** The requests that may still run, with their processes. Abandoned ones timed out and were retried. */
  readonly requests: readonly { readonly key: string; readonly of: number; readonly isAbandoned?: true }[]
  readonly processes: readonly Process[]
  readonly written: number
}

const digestOf = (letter: string): string => letter.repeat(64)
const plainKeyOf = (letter: string): string => blobKey(digestOf(letter))
const historyOf = ({ suffixes }: Head): History => ({ version: 2, history: [], suffixes })
const keysOf = (head: Head): string[] =>
  [...new Set(head.builds.join(''))].map((letter) => keyIn(head, plainKeyOf(letter)))

function availableIn({ head, deleted, objects }: Process): ReadonlyMap<string, { readonly key: string }> {
  const listed = objects.flatMap((key) => {
    const { plainKey } = splitKey(key) ?? {}
    return plainKey === undefined ? [] : [{ key, plainKey, name: plainKey.slice('blobs/'.length) }]
  })
  return selectAvailable(listed, { history: historyOf(head), deleted: new Set(deleted) })
}

function nextStates(state: State, changes: readonly Change[], weakness?: Weakness): readonly State[] {
  const states = state.processes.flatMap((process, of) => {
    const change = changes[of]
    return change === undefined ? [] : stepsOf(state, { process, of, change, weakness })
  })
  for (const [index, { key }] of state.requests.entries()) {
    const requests = state.requests.toSpliced(index, 1)
    states.push({ ...state, requests, objects: state.objects.filter((other) => other !== key) })
  }
  return states
}

function stepsOf(
  state: State,
  {
    process,
    of,
    change,
    weakness,
  }: {
    readonly process: Process
    readonly of: number
    readonly change: Change
    readonly weakness: Weakness | undefined
  },
): readonly State[] {
  const move = (changed: Partial<Process>, more: Partial<State> = {}): State[] => [
    { ...state, ...more, processes: state.processes.with(of, { ...process, ...changed }) },
  ]
  const read = (): Partial<Process> => ({
    head: state.head,
    deleted:
      weakness === 'uses deleted keys'
        ? []
        : state.head.deletions.flatMap((number) => state.documents[number] ?? []),
  })
  const list = { objects: state.objects }
  const retry: Partial<Process> = {
    step: process.tries > 1 ? 'ended' : 'read',
    tries: process.tries + 1,
    keys: [],
  }
  const letters = (change.build ?? '').split('')

  switch (process.step) {
    case 'read':
      return move({ step: 'list', ...(weakness === 'lists before it reads' ? list : read()) })
    case 'list':
      return move({ step: 'put', ...(weakness === 'lists before it reads' ? read() : list) })
    case 'put': {
      const available = availableIn(process)
      const letter = letters[process.keys.length]
      if (letter === undefined) return move({ step: 'swap' })
      const there = available.get(digestOf(letter))?.key
      if (there !== undefined) return move({ keys: [...process.keys, there] })
      const deleted = new Set(process.deleted)
      const plain = keyToWrite(plainKeyOf(letter), { history: historyOf(process.head), deleted })
      const isNew = plain.length > keyIn(process.head, plainKeyOf(letter)).length
      const key = isNew ? `${plainKeyOf(letter)}.${state.written}` : plain
      const objects = [...new Set([...state.objects, key])].toSorted()
      return move({ keys: [...process.keys, key] }, { objects, written: state.written + Number(isNew) })
    }
    case 'swap': {
      const { head } = process
      if (head.version !== state.head.version) return move(retry)
      const builds = [...new Set([...(change.build === undefined ? [] : [change.build]), ...head.builds])]
      const named = {
        ...head,
        builds: builds.slice(0, change.keeps),
        suffixes: withKeys(head.suffixes, process.keys),
      }
      const kept = new Set(keysOf(named))
      const keys = process.objects.filter((key) => !kept.has(key))
      const suffixes = withOnlySuffixes(historyOf(named), kept).suffixes ?? {}
      const deletions = keys.length === 0 ? head.deletions : [...head.deletions, of]
      return move(
        { step: keys.length === 0 ? 'ended' : 'delete', keys },
        {
          head: { ...named, suffixes, deletions, version: head.version + 1 },
          documents: { ...state.documents, [of]: keys },
        },
      )
    }
    case 'delete': {
      const requests = process.keys.map((key) => ({ key, of }))
      const [first] = requests
      return [
        ...move({ step: 'end' }, { requests: [...state.requests, ...requests] }),
        // The first attempt of the first request timed out and still runs.
        ...(first === undefined
          ? []
          : move(
              { step: 'end' },
              { requests: [...state.requests, { ...first, isAbandoned: true }, ...requests] },
            )),
      ]
    }
    case 'end': {
      const own = state.requests.filter((request) => request.of === of)
      if (weakness !== 'ends with a running request' && own.length > 0) return []
      const deletions = state.head.deletions.filter((number) => number !== of)
      return move({ step: 'ended' }, { head: { ...state.head, deletions, version: state.head.version + 1 } })
    }
    default:
      return []
  }
}

/** Visits all states. Returns their number, and a state in which a kept build lacks a blob. */
export function exploreDeletions(
  changes: readonly Change[],
  weakness?: Weakness,
): { readonly states: number; readonly lost: State | undefined } {
  const digests = [...new Set(changes.map(({ build = '' }) => build).join(''))]
  const head: Head = { version: 0, builds: ['', digests.join('')], suffixes: {}, deletions: [] }
  const start: Process = { step: 'read', tries: 1, head, deleted: [], objects: [], keys: [] }
  const first: State = {
    head,
    objects: digests.map(plainKeyOf),
    documents: {},
    requests: [],
    processes: changes.map(() => start),
    written: 0,
  }
  const seen = new Set([JSON.stringify(first)])
  const open: State[] = [first]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const objects = new Set(state.objects)
    if (keysOf(state.head).some((key) => !objects.has(key))) return { states: seen.size, lost: state }
    for (const next of nextStates(state, changes, weakness)) {
      const text = JSON.stringify(next)
      if (seen.has(text)) continue
      seen.add(text)
      open.push(next)
    }
  }
  return { states: seen.size, lost: undefined }
}
