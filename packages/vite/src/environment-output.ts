import { dirname, resolve } from 'node:path'
import { type AskedNames, createAskedNames } from './asked-names.ts'
import { type BundledChunk, type ChunkGraph, type ChunkNeeds, needsOf } from './chunk-graph.ts'
import { type BundledFile, hashedNames, type NamingRules } from './hashed-names.ts'

/** Where one output goes. */
interface OutputPlace {
  readonly dir?: string | undefined
  readonly file?: string | undefined
}

/** The options of one output, as far as Rollup and Rolldown agree on them. */
export interface OutputOptions extends OutputPlace, NamingRules {}

/** What one environment has written since its build began; a watched build begins many times. */
export interface EnvironmentOutput {
  beginBuild(): void
  /** The modules of a build are there, or it failed. */
  endBuild(error: unknown): void
  /** Tells of a failure of the build before at once, or, while a build is under way, only when that fails. */
  readonly tellFailure: (tell: () => void) => void
  /** The record of the names that are asked for in the folder of this output. */
  askedNames(place: OutputPlace): AskedNames
  beginOutput(): void
  endOutput(options: OutputOptions, bundle: Readonly<Record<string, BundledFile & BundledChunk>>): void
  /** The folders of a build that wrote every output that it began, once; else none. */
  takeFolders(): readonly string[]
  /** Whether the bundler put a content hash into the name of this file, an absolute path. */
  readonly isHashed: (path: string) => boolean
  /** By absolute paths. */
  readonly graph: ChunkGraph
}

/** Starts the account of one environment; `workerNames` are those that bundles of workers hashed. */
export function createEnvironmentOutput(workerNames: ReadonlySet<string>): EnvironmentOutput {
  const folders = new Set<string>()
  const hashed = new Set<string>()
  // By folder: watched outputs of Rollup are written at once, so that none is the current one.
  const asked = new Map<string, AskedNames>()
  const graph = new Map<string, ChunkNeeds>()
  let withheld: (() => void)[] = []
  let isBuilding = false
  let isBuildWritten = false
  let begun = 0
  let ended = 0

  const askedNames = (place: OutputPlace): AskedNames => {
    const folder = folderOf(place)
    const names = asked.get(folder) ?? createAskedNames()
    asked.set(folder, names)
    return names
  }

  return {
    askedNames,
    // Rolldown begins a build once an output: what earlier outputs wrote must outlast it.
    beginBuild() {
      isBuilding = true
      isBuildWritten = false
    },
    endBuild(error) {
      isBuilding = false
      const due = error === undefined ? [] : withheld
      withheld = []
      for (const tell of due) tell()
    },
    tellFailure: (tell) => {
      if (isBuilding) withheld.push(tell)
      else tell()
    },
    beginOutput() {
      begun += 1
    },
    endOutput(options, bundle) {
      const folder = folderOf(options)
      folders.add(folder)
      ended += 1
      isBuildWritten = true
      const files = Object.values(bundle)
      const names = hashedNames(files, options, askedNames(options))
      for (const file of files) {
        const path = resolve(folder, file.fileName)
        if (file.type === 'chunk') graph.set(path, needsOf(file, folder))
        // Vite hands a finished worker over as an asset without a name of its own.
        const isWorker = (file.names ?? []).length === 0 && workerNames.has(file.fileName)
        if (isWorker || names.has(file.fileName)) hashed.add(path)
        else hashed.delete(path)
      }
    },
    takeFolders() {
      // An output that failed began and never ended; one of `build.write: false` neither.
      const isComplete = isBuildWritten && ended > 0 && ended >= begun
      begun = 0
      ended = 0
      return isComplete ? [...folders] : []
    },
    isHashed: (path) => hashed.has(path),
    graph,
  }
}

/** The folder of one output, absolute. */
export function folderOf({ dir, file }: OutputPlace): string {
  return resolve(dir ?? dirname(file ?? ''))
}
