import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LinksOf } from '@serve-dist/precompress'
import { type ChunkGraph, graphWithin } from './chunk-graph.ts'
import { linksOfPage } from './links-of-page.ts'
import { readPage } from './read-page.ts'
import type { PreloadSettings } from '../serve-dist-options.ts'

/** The build that the pages of a folder belong to. */
export interface LinkedFolder {
  /** Absolute. */
  readonly folder: string
  readonly base: string
  /** By absolute paths. */
  readonly graph: ChunkGraph
}

/** Finds links as a pass asks for them: from the pages as they are on the disk when every plugin is done. */
export function createLinksOf({ folder, base, graph }: LinkedFolder, { fonts }: PreloadSettings): LinksOf {
  const ownGraph = graphWithin(graph, folder)
  const styles = new Map<string, Promise<string>>()
  const read = (path: string): Promise<string> => readFile(join(folder, path), 'utf8')
  const readStyle = (path: string): Promise<string> => {
    const text = styles.get(path) ?? read(path)
    styles.set(path, text)
    return text
  }
  return async (page, paths) =>
    linksOfPage(page, readPage(await read(page)), {
      base,
      paths,
      graph: ownGraph,
      readStyle: fonts ? readStyle : undefined,
    })
}
