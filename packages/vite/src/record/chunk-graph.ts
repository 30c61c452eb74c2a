import { relative, resolve, sep } from 'node:path'
import { isInside } from './output-folders.ts'

/** What one chunk cannot run without; what it may import later is not among it. */
export interface ChunkNeeds {
  /** Chunks, in the order in which they are imported. */
  readonly imports: readonly string[]
  readonly styles: readonly string[]
}

/** The chunks of a build by path. */
export type ChunkGraph = ReadonlyMap<string, ChunkNeeds>

/** A chunk as far as Rollup, Rolldown and Vite agree on it; assets have nothing of it. */
export interface BundledChunk {
  readonly imports?: readonly string[]
  readonly viteMetadata?: { readonly importedCss: ReadonlySet<string> }
}

/** What a chunk in this folder needs, by absolute paths. */
export function needsOf({ imports = [], viteMetadata }: BundledChunk, folder: string): ChunkNeeds {
  return {
    imports: imports.map((name) => resolve(folder, name)),
    styles: [...(viteMetadata?.importedCss ?? [])].map((name) => resolve(folder, name)),
  }
}

/** The part of a graph of absolute paths that lies in a folder, by paths relative to it, with `/`. */
export function graphWithin(graph: ChunkGraph, folder: string): ChunkGraph {
  const pathsWithin = (paths: readonly string[]): string[] =>
    paths.filter((path) => isInside(path, folder)).map((path) => relative(folder, path).split(sep).join('/'))
  return new Map(
    [...graph].flatMap(([path, { imports, styles }]) =>
      pathsWithin([path]).map((name) => [
        name,
        { imports: pathsWithin(imports), styles: pathsWithin(styles) },
      ]),
    ),
  )
}

/** All that these chunks need, themselves included, in the order in which it runs and applies. */
export function followImports(
  entries: readonly string[],
  graph: ChunkGraph,
): { readonly modules: readonly string[]; readonly styles: readonly string[] } {
  const seen = new Set<string>()
  const modules: string[] = []
  const styles = new Set<string>()
  const follow = (path: string): void => {
    const needs = graph.get(path)
    if (needs === undefined || seen.has(path)) return
    seen.add(path)
    for (const imported of needs.imports) follow(imported)
    modules.push(path)
    for (const style of needs.styles) styles.add(style)
  }
  for (const entry of entries) follow(entry)
  return { modules, styles: [...styles] }
}
