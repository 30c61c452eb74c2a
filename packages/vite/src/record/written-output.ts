import { join, posix, relative, sep } from 'node:path'
import type { RuntimeEnvironment } from '@serve-dist/manifest'
import { type BuildFacts, type ChunkNeeds, digestOfFile, type HashedFile } from '@serve-dist/precompress'
import type { CollectedWorkers } from './collect-workers.ts'
import {
  type RequestedNames,
  type BundledFile,
  findHashedNames,
  type NamingRules,
} from './find-hashed-names.ts'
import { isForeign } from '../environment/environment-url.ts'
import { announcerStyle, isInlineWorker, type PolicyFacts } from './policy-needs.ts'
import { folderOf, isInside, type OutputPlace } from './output-folders.ts'

/** The options of one output, as far as Rollup and Rolldown agree on them. */
export interface OutputOptions extends OutputPlace, NamingRules {
  readonly format?: string | undefined
}

/** A file of a bundle as far as Rollup, Rolldown and Vite agree on it; assets import nothing. */
export interface WrittenFile extends BundledFile {
  readonly code?: string
  readonly imports?: readonly string[]
  readonly moduleIds?: readonly string[]
  readonly viteMetadata?: { readonly importedCss: ReadonlySet<string> }
}

/** What the bundler knows of the files of one output; names are relative to its folder. */
export interface WrittenOutput {
  /** Absolute. */
  readonly folder: string
  /** The names with a hash in them, each with its stem. */
  readonly stems: ReadonlyMap<string, string>
  readonly graph: ReadonlyMap<string, ChunkNeeds>
  /** The scripts of workers. */
  readonly workers: readonly string[]
  readonly policyFacts: PolicyFacts
  /** What its chunks take from the environment of the process that serves them. */
  readonly environment?: RuntimeEnvironment
}

/** What is known of an output besides its files. */
interface OutputKnowledge {
  readonly asked: RequestedNames
  readonly workers: CollectedWorkers
  /** What the plugin's options say. */
  readonly environment: RuntimeEnvironment | undefined
}

/** Tells outputs apart, also those that share a folder, in this build and the next. */
export function outputName({ dir, file, format, entryFileNames }: OutputOptions): string {
  return [folderOf({ dir, file }), file, format, entryFileNames].map(String).join('\0')
}

export function describeOutput(
  options: OutputOptions,
  files: readonly WrittenFile[],
  { asked, workers, environment }: OutputKnowledge,
): WrittenOutput {
  const stems = findHashedNames(files, options, asked)
  const graph = new Map<string, ChunkNeeds>()
  for (const { type, fileName, names = [], imports = [], viteMetadata } of files) {
    const styles = [...(viteMetadata?.importedCss ?? [])]
    // What another host has is no file of this build.
    if (type === 'chunk') graph.set(fileName, { imports: imports.filter((name) => !isForeign(name)), styles })
    // Vite hands a finished worker over as an asset without a name of its own.
    const stem = names.length === 0 ? workers.stems.get(fileName) : undefined
    if (stem !== undefined) stems.set(fileName, stem)
  }
  const names = files.map(({ fileName }) => fileName)
  const scripts = names.filter((name) => workers.scripts.has(name))
  const inline = files.flatMap(({ moduleIds = [] }) => moduleIds.filter(isInlineWorker))
  const announcers = files.flatMap(({ code = '' }) => announcerStyle(code) ?? [])
  // Its module is only there where a chunk imports it.
  const isImported = environment !== undefined && names.includes(environment.path)
  return {
    folder: folderOf(options),
    stems,
    graph,
    workers: scripts,
    policyFacts: { inlineWorkers: [...inline, ...workers.inline], announcers },
    ...(isImported && { environment }),
  }
}

/** What a record says of the files of a folder as they are on the disk, from the outputs that went into it or further below. */
export async function describeFolder(
  folder: string,
  outputs: readonly WrittenOutput[],
): Promise<Pick<BuildFacts, 'hashed' | 'graph' | 'workers' | 'environment'>> {
  const hashed: Record<string, HashedFile> = {}
  const graph: Record<string, ChunkNeeds> = {}
  const workers = new Set<string>()
  let environment: RuntimeEnvironment | undefined
  for (const output of outputs) {
    if (output.folder !== folder && !isInside(output.folder, folder)) continue
    const prefix = relative(folder, output.folder).split(sep).join('/')
    const within = (name: string): string => posix.join(prefix, name)
    if (output.environment) {
      environment = { ...output.environment, path: within(output.environment.path) }
    }
    for (const [name, stem] of output.stems) {
      // Other plugins may have rewritten what the bundler had, or removed it.
      const found = await digestOfFile(join(output.folder, name))
      if (found) hashed[within(name)] = { sha256: found.sha256, stem: within(stem) }
    }
    for (const [name, { imports, styles }] of output.graph) {
      graph[within(name)] = { imports: imports.map(within), styles: styles.map(within) }
    }
    for (const name of output.workers) workers.add(within(name))
  }
  return {
    hashed,
    graph,
    ...(workers.size > 0 && { workers: [...workers].toSorted() }),
    ...(environment && { environment }),
  }
}
