import { isCompressible } from './is-compressible.ts'
import { isSourceMap } from './is-source-map.ts'
import type { Manifest, ManifestFile } from './manifest.ts'

/** Bytes below which the fields of a mark and of an offer may cost more than a delta saves (bench/deltas/README.md). */
const smallestDictionary = 512
/** Bytes up to which a browser decodes with any window that we may use (RFC 9842 §5). */
const largestDictionary = 8 * 1024 * 1024
/** Chromium keeps some 500 dictionaries for each site, of all its builds together. */
const mostDictionaries = 300

/** A file that a browser may keep to decode a later build's file against (RFC 9842). */
export interface Dictionary {
  readonly file: ManifestFile
  /** The URL pattern of the files of later builds that it is for. */
  readonly match: string
  /** What they are asked for as (Fetch §2.2.5); empty where that is not known. */
  readonly destinations: readonly string[]
}

/** What never changes under its name, and what browsers keep and decode: Chromium 156 keeps no worker's own script. */
function mayBeDictionary({ path, stem, mediaType, size, cache, runtime, worker }: ManifestFile): boolean {
  return (
    stem !== undefined &&
    cache === 'immutable' &&
    runtime !== true &&
    worker !== true &&
    size >= smallestDictionary &&
    size <= largestDictionary &&
    isCompressible(mediaType) &&
    !isSourceMap(path)
  )
}

/**
 * The files of a build that are dictionaries, and have deltas, by their stems, the largest first. Of several files with
 * one stem it is the largest, for a browser keeps one dictionary for each pattern.
 */
export function dictionariesOf({
  base,
  files,
}: Pick<Manifest, 'base' | 'files'>): ReadonlyMap<string, Dictionary> {
  const dictionaries = new Map<string, Dictionary>()
  for (const file of files.filter(mayBeDictionary).toSorted((one, other) => other.size - one.size)) {
    const { stem = '' } = file
    if (dictionaries.size === mostDictionaries) break
    if (dictionaries.has(stem)) continue
    dictionaries.set(stem, { file, match: patternOf(base + stem), destinations: destinationsOf(file) })
  }
  return dictionaries
}

/** A path with `[hash]` in it as a pattern (URL Pattern §1.1) of request paths as browsers write them. */
function patternOf(path: string): string {
  return path.split('[hash]').map(literalOf).join('*')
}

function literalOf(text: string): string {
  return (
    encodeURI(text)
      .replace(/[?#]/g, encodeURIComponent)
      .replace(/[()*+]/g, '\\$&')
      // Links may have these as they are or escaped; a colon ends a scheme even behind a backslash (URL Pattern §3.1).
      .replace(/%5B|%5D|%5E|%7C|:/g, '*')
  )
}

function destinationsOf({ mediaType }: ManifestFile): readonly string[] {
  const [essence = ''] = mediaType.toLowerCase().split(';')
  if (/^(?:text|application)\/javascript$/.test(essence.trim())) return ['script']
  return essence.trim() === 'text/css' ? ['style'] : []
}
