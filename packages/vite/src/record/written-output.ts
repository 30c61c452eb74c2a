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

/** Options of an output that Rollup and Rolldown share. */
export interface OutputOptions extends OutputPlace, NamingRules {
  readonly format?: string | undefined
}

/** A file of a bundle, with the fields that Rollup, Rolldown and Vite share. Assets have no imports. */
export interface WrittenFile extends BundledFile {
  readonly code?: string
  readonly imports?: readonly string[]
  readonly moduleIds?: readonly string[]
  readonly viteMetadata?: { readonly importedCss: ReadonlySet<string> }
}

/** The bundler's facts about an output. Names are relative to its folder. */
export interface WrittenOutput {
  /** Absolute path. */
  readonly folder: string
  /** Hashed names and their stems. */
  readonly stems: ReadonlyMap<string, string>
  readonly graph: ReadonlyMap<string, ChunkNeeds>
  /** Scripts of workers. */
  readonly workers: readonly string[]
  readonly policyFacts: PolicyFacts
  /** The environment variables of the server that the chunks read. */
  readonly environment?: RuntimeEnvironment
}

/** Facts about an output from other sources than its files. */
interface OutputKnowledge {
  readonly asked: RequestedNames
  readonly workers: CollectedWorkers
  /** From the plugin's options. */
  readonly environment: RuntimeEnvironment | undefined
}

/** Returns a key that distinguishes outputs, also in the same folder, and is equal in the next build. */
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
    // Files on another host are not part of this build.
    if (type === 'chunk') graph.set(fileName, { imports: imports.filter((name) => !isForeign(name)), styles })
    // Vite emits a finished worker as an asset without a name.
    const stem = names.length === 0 ? workers.stems.get(fileName) : undefined
    if (stem !== undefined) stems.set(fileName, stem)
  }
  const names = files.map(({ fileName }) => fileName)
  const scripts = names.filter((name) => workers.scripts.has(name))
  const inline = files.flatMap(({ moduleIds = [] }) => moduleIds.filter(isInlineWorker))
  const announcers = files.flatMap(({ code = '' }) => announcerStyle(code) ?? [])
  // The module exists only if a chunk imports it.
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

/** Returns the record's facts about the files of a folder on the disk, from all outputs in this folder. */
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
      // Another plugin may have rewritten or removed the file.
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
