import type { BuildRecord } from '@serve-dist/precompress'
import type { Environment } from 'vite'
import { type RequestedNames, createRequestedNames } from './find-hashed-names.ts'
import { folderOf, type OutputPlace } from './output-folders.ts'
import type { WrittenOutput } from './written-output.ts'

/**
 * The phase of an environment's build. `build-steps.ts` shows the transitions.
 *
 * - `idle`: the folders are unchanged.
 * - `building`: the folders change and are marked as unfinished.
 * - `written`: all outputs are on the disk.
 * - `finished`: the record is written, and the compression is complete if this plugin runs it.
 * - `failed`: the folders contain an incomplete build, and the user was warned.
 */
type BuildPhase = 'idle' | 'building' | 'written' | 'finished' | 'failed'

/** An output folder of an environment, and its record. */
export interface RecordedFolder {
  /** Absolute path. It is in no other folder of the same environment. */
  readonly folder: string
  /** The project's root. */
  readonly root: string
  readonly record: BuildRecord
  /** Whether a pattern of the user breaks the framework's promise about names. */
  readonly breaksPromise: boolean
}

/** The plugin's state for one environment. */
export interface BuildState {
  phase: BuildPhase
  /** Whether `buildApp` finishes this environment after all others are built. */
  isPartOfApp: boolean
  /** The folders that are marked. */
  readonly marked: Set<string>
  /** Outputs by name. A value is missing until the output is written. */
  readonly outputs: Map<string, WrittenOutput | undefined>
  /** The output folders, from the phase `written` on. */
  folders: readonly RecordedFolder[]
  /** Returns the names that were requested for an output's folder. */
  askedNames(place: OutputPlace): RequestedNames
  /** Runs tasks one after the other, so that no rebuild writes into a folder during its compression. */
  inTurn(work: () => Promise<void>): Promise<void>
}

/** Global state, because each environment may have its own plugin instance. */
const states = new WeakMap<Environment, BuildState>()

export function buildStateOf(environment: Environment): BuildState {
  const state = states.get(environment) ?? createBuildState()
  states.set(environment, state)
  return state
}

function createBuildState(): BuildState {
  // Separate by folder, because Rollup writes the outputs of a watcher concurrently.
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
