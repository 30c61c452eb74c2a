import { dirname, resolve } from 'node:path'
import type { ChunkNeeds } from '@serve-dist/precompress'
import { type BundledChunk, type ChunkGraph, needsOf } from './chunk-graph.ts'
import {
  type AskedNames,
  type BundledFile,
  createAskedNames,
  hashedNames,
  type NamingRules,
} from './hashed-names.ts'

/** Where one output goes. */
interface OutputPlace {
  readonly dir?: string | undefined
  readonly file?: string | undefined
}

/** The options of one output, as far as Rollup and Rolldown agree on them. */
export interface OutputOptions extends OutputPlace, NamingRules {
  readonly format?: string | undefined
  readonly entryFileNames?: unknown
}

/** What one environment has written since its build began; a watched build begins many times. */
export interface EnvironmentOutput {
  beginBuild(): void
  /** The build has its modules, or it failed. */
  endBuild(error: unknown): void
  /** Reports a failure of the earlier build: at once or, while a build runs, only if that fails. */
  readonly tellFailure: (tell: () => void) => void
  /** Waits for a newer build, if one runs. Whether what was written stays: no newer build runs, or it failed. */
  readonly isLast: () => Promise<boolean>
  /** The record of the names that are asked for in the folder of this output. */
  askedNames(place: OutputPlace): AskedNames
  beginOutput(options: OutputOptions): void
  /** What was written is gone. */
  readonly forget: () => void
  endOutput(options: OutputOptions, bundle: Readonly<Record<string, BundledFile & BundledChunk>>): void
  /** The folders of a build that wrote every output that it began, else none; of one that is not watched once. */
  takeFolders(): readonly string[]
  /** Whether those were taken since they were written: a watched build may be closed when the next one is written. */
  readonly areTaken: () => boolean
  /** Whether the bundler put a content hash into the name of this file, an absolute path. */
  readonly isHashed: (path: string) => boolean
  /** By absolute paths. */
  readonly graph: ChunkGraph
}

/** What is known about an environment before it is built. */
export interface EnvironmentOutputOptions {
  /** The names that bundles of workers hashed. */
  readonly workerNames: ReadonlySet<string>
  /** Whether a build may begin before the one before is closed. */
  readonly isWatched: boolean
}

/** Starts the record of one environment. */
export function createEnvironmentOutput({
  workerNames,
  isWatched,
}: EnvironmentOutputOptions): EnvironmentOutput {
  const folders = new Set<string>()
  const hashed = new Set<string>()
  // By folder: watched outputs of Rollup are written at once, so that none is the current one.
  const asked = new Map<string, AskedNames>()
  const graph = new Map<string, ChunkNeeds>()
  let withheld: (() => void)[] = []
  const waiting: ((isLast: boolean) => void)[] = []
  let isBuilding = false
  let areTaken = false
  /** Each output that began, and whether it was written: one that failed stays open until a build writes it. */
  const written = new Map<string, boolean>()

  const askedNames = (place: OutputPlace): AskedNames => {
    const folder = folderOf(place)
    const names = asked.get(folder) ?? createAskedNames()
    asked.set(folder, names)
    return names
  }

  return {
    askedNames,
    forget: () => written.clear(),
    // Rolldown begins a build once an output: what earlier outputs wrote must outlast it.
    beginBuild() {
      isBuilding = true
      // The next watched build may fail, and then this one stays.
      if (!isWatched) written.clear()
    },
    endBuild(error) {
      isBuilding = false
      // From here on it writes, and gets a pass of its own; an output that failed is not forgotten by that.
      if (error === undefined) {
        for (const [output, isWritten] of written) if (isWritten) written.delete(output)
      }
      for (const decide of waiting.splice(0)) decide(error !== undefined)
      const due = error === undefined ? [] : withheld
      withheld = []
      for (const tell of due) tell()
    },
    tellFailure: (tell) => {
      if (isBuilding) withheld.push(tell)
      else tell()
    },
    isLast: async () =>
      isWatched && isBuilding ? await new Promise((decide) => waiting.push(decide)) : true,
    beginOutput(options) {
      written.set(nameOf(options), false)
      areTaken = false
    },
    endOutput(options, bundle) {
      const folder = folderOf(options)
      folders.add(folder)
      written.set(nameOf(options), true)
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
      const isComplete = written.size > 0 && [...written.values()].every(Boolean)
      if (!isComplete) return []
      if (!isWatched) written.clear()
      areTaken = true
      return [...folders]
    },
    areTaken: () => areTaken,
    isHashed: (path) => hashed.has(path),
    graph,
  }
}

/** Tells outputs apart, also those that share a folder, in this build and the next. */
function nameOf({ dir, file, format, entryFileNames }: OutputOptions): string {
  return [folderOf({ dir, file }), file, format, entryFileNames].map(String).join('\0')
}

/** The folder of one output, absolute. */
export function folderOf({ dir, file }: OutputPlace): string {
  return resolve(dir ?? dirname(file ?? ''))
}
