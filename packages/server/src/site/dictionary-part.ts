import { dictionariesOf, type Dictionary, type Manifest, type ManifestFile } from '@serve-dist/manifest'
import { entityTagOf } from '../protocol/entity-tag.ts'
import type { StoredDelta, StoredDeltas } from './kept-build.ts'
import type { ResolvedServing } from './resolve-serving.ts'
import type { Deltas, Resource } from './site.ts'

/** The dictionary data that all files of a build share. */
export interface BuildDictionaries {
  /** By stem. */
  readonly marked: ReadonlyMap<string, Dictionary>
  readonly deltas: StoredDeltas
  readonly inSharedCaches: boolean
}

export function buildDictionaries(
  manifest: Manifest,
  deltas: StoredDeltas,
  { sharedCache }: Pick<ResolvedServing, 'sharedCache'>,
): BuildDictionaries {
  return { marked: dictionariesOf(manifest), deltas, inSharedCaches: sharedCache }
}

/** The dictionary fields of a resource (RFC 9842). */
type DictionaryPart = Pick<Resource, 'useAsDictionary' | 'deltas'>

const nothing: DictionaryPart = { useAsDictionary: undefined, deltas: undefined }

/** Returns the dictionary fields of a file. Only files that caches may keep permanently have these. */
export function dictionaryPart(
  file: ManifestFile,
  build: BuildDictionaries | undefined,
  { cacheControl, overrides }: Pick<Resource, 'cacheControl' | 'overrides'>,
): DictionaryPart {
  const rule = overrides.get('cache-control')
  const isForGood = /\bimmutable\b/i.test((rule === undefined ? cacheControl : rule.value) ?? '')
  const dictionary = build?.marked.get(file.stem ?? '')
  if (build === undefined || dictionary?.file !== file || !isForGood) return nothing
  const { deltas, inSharedCaches } = build
  const found = deltas.get(file.sha256)
  return {
    useAsDictionary: useAsDictionaryOf(dictionary),
    deltas: found && { byDictionary: byDictionary(found), inSharedCaches },
  }
}

/**
 * Formats the field of RFC 9842 §2.1 as a string and an inner list of strings (RFC 9651 §3.3.3, §3.1.1).
 */
function useAsDictionaryOf({ match, destinations }: Dictionary): string {
  const matchDest = destinations.length === 0 ? '' : `, match-dest=(${destinations.map(quote).join(' ')})`
  return `match=${quote(match)}${matchDest}`
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/**
 * The keys are digests as byte sequences (RFC 9651 §3.3.5), exactly as browsers send them (RFC 9842 §2.2).
 */
function byDictionary(found: ReadonlyMap<string, readonly StoredDelta[]>): Deltas['byDictionary'] {
  return new Map(
    Array.from(found, ([sha256, deltas]) => [
      `:${btoa(String.fromCharCode(...(sha256.match(/../g) ?? []).map((octet) => Number.parseInt(octet, 16))))}:`,
      deltas
        .map(({ coding, bytes, ...delta }) => ({ coding, bytes, entityTag: entityTagOf(delta.sha256) }))
        .toSorted((one, other) => one.bytes.size - other.bytes.size),
    ]),
  )
}
