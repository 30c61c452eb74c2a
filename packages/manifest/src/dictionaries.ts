import { isCompressible } from './is-compressible.ts'
import { isSourceMap } from './is-source-map.ts'
import type { Manifest, ManifestFile } from './manifest.ts'

/**
 * The minimum size in bytes. For smaller files, the additional headers can cost more than a delta saves
 * (bench/deltas/README.md).
 */
const smallestDictionary = 512
/** The maximum size in bytes. Browsers decode up to this size with any permitted window (RFC 9842 §5). */
const largestDictionary = 8 * 1024 * 1024
/** The maximum number of dictionaries. Chromium keeps about 500 per site for all builds. */
const mostDictionaries = 300

/** A file that a browser may keep as the dictionary of a later build's file (RFC 9842). */
export interface Dictionary {
  readonly file: ManifestFile
  /** The URL pattern of the matching files in later builds. */
  readonly match: string
  /** The request destinations of these files (Fetch §2.2.5). The list is empty if they are unknown. */
  readonly destinations: readonly string[]
}

/** Returns whether browsers keep a file and can decode with it. Chromium 156 keeps no worker scripts. */
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
 * Returns the dictionaries of a build by stem, the largest first. These files also have deltas. If several files have
 * one stem, the largest is the dictionary, because a browser keeps one dictionary per pattern.
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

/** Converts a path with `[hash]` to a URL pattern (URL Pattern §1.1). */
function patternOf(path: string): string {
  return path.split('[hash]').map(literalOf).join('*')
}

function literalOf(text: string): string {
  return (
    encodeURI(text)
      .replace(/[?#]/g, encodeURIComponent)
      .replace(/[()*+]/g, '\\$&')
      // Links can contain these characters literally or escaped. A colon ends a scheme even after a backslash (URL
      // Pattern §3.1).
      .replace(/%5B|%5D|%5E|%7C|:/g, '*')
  )
}

function destinationsOf({ mediaType }: ManifestFile): readonly string[] {
  const [essence = ''] = mediaType.toLowerCase().split(';')
  if (/^(?:text|application)\/javascript$/.test(essence.trim())) return ['script']
  return essence.trim() === 'text/css' ? ['style'] : []
}
