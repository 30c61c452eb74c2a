import type { BuildRecord } from '@serve-dist/precompress'
import type { Environment } from 'vite'
import { type RequestedNames, createRequestedNames } from './find-hashed-names.ts'
import { folderOf, type OutputPlace } from './output-folders.ts'
import type { WrittenOutput } from './written-output.ts'

/**
 * Where the build of one environment stands; `plugin.ts` says which hook leads from one to the next.
 *
 * - `idle`: it has not touched its folders.
 * - `building`: it changes them, and they are marked as unfinished.
 * - `written`: each output that began is on the disk.
 * - `finished`: the record is written, and whoever makes the pass has made it.
 * - `failed`: the folders hold a part of a build, and the user knows.
 */
type BuildPhase = 'idle' | 'building' | 'written' | 'finished' | 'failed'

/** A folder that an environment wrote, and what was written down of it. */
export interface RecordedFolder {
  /** Absolute; it lies in no other one of the same environment. */
  readonly folder: string
  /** Of the project. */
  readonly root: string
  readonly record: BuildRecord
  /** Whether a pattern of the user breaks what the framework promises of names in it. */
  readonly breaksPromise: boolean
}

/** All that the plugin remembers of one environment. */
export interface BuildState {
  phase: BuildPhase
  /** Whether `buildApp` comes back to this environment when all others are built. */
  isPartOfApp: boolean
  /** The folders that carry our mark. */
  readonly marked: Set<string>
  /** Each output that began, and what it wrote; a rebuild takes its place. */
  readonly outputs: Map<string, WrittenOutput | undefined>
  /** What it wrote, since it is `written`. */
  folders: readonly RecordedFolder[]
  /** The record of the names that are asked for in the folder of this output. */
  askedNames(place: OutputPlace): RequestedNames
  /** Does one thing after the other, so that no rebuild writes into a folder while its manifest is made. */
  inTurn(work: () => Promise<void>): Promise<void>
}

/** Not of a plugin: where environments do not share their configuration, each has a plugin of its own. */
const states = new WeakMap<Environment, BuildState>()

export function buildStateOf(environment: Environment): BuildState {
  const state = states.get(environment) ?? createBuildState()
  states.set(environment, state)
  return state
}

function createBuildState(): BuildState {
  // By folder: Rollup writes the outputs of a watcher at once, so that none is the current one.
  const asked = new Map<string, RequestedNames>()
  let last: Promise<void> = Promise.resolve()
  return {
    phase: 'idle',
    isPartOfApp: false,
    marked: new Set(),
    outputs: new Map(),
    folders: [],
    askedNames(place) {
      const folder = folderOf(place)
      const names = asked.get(folder) ?? createRequestedNames()
      asked.set(folder, names)
      return names
    },
    inTurn(work) {
      const next = last.then(work)
      last = next.catch(() => {})
      return next
    },
  }
}
