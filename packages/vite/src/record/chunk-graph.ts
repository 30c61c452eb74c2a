import { relative, resolve, sep } from 'node:path'
import type { ChunkNeeds } from '@serve-dist/precompress'
import { isInside } from './output-folders.ts'

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
