import { type FieldOverrides, overrideFields } from '../protocol/field-list.ts'
import { memoizeWeakly } from './memoize-weakly.ts'
import type { Answer, AnswerContent, Representation, Resource, StoredBytes } from './site.ts'

// Answers are created on first use: a build with 10,000 files would create 120,000 answers at the start,
// most of them unused (docs/decisions/014-boot.md).

type MakeAnswer = (representation: Representation, resource: Resource) => Answer

/** Creates a 200 with a representation, uncached. */
export const makeOkAnswer: MakeAnswer = (representation, resource) => {
  const { coding, bytes } = representation
  const fields = [
    ...metadataOf(resource, representation),
    ...varyOf(resource),
    ...freshnessOf(resource, representation),
    ...dictionaryOf(resource),
    ...(coding === 'identity' ? ['Accept-Ranges', 'bytes'] : []),
    ...noSniff,
    ...(resource.links.length === 0 ? [] : ['Link', resource.links.join(', ')]),
  ]
  return {
    status: 200,
    fields: overrideFields(fields, overridesOf(resource, representation)),
    content: contentOf(bytes),
    ...(resource.earlyHints.length > 0 && { earlyHints: resource.earlyHints }),
    ...savedBytesOf(resource, representation),
  }
}

/** Creates a 304 for a client that has this representation, uncached. */
export const makeNotModifiedAnswer: MakeAnswer = (representation, resource) => ({
  status: 304,
  fields: overrideFields(
    [...varyOf(resource), ...freshnessOf(resource, representation), ...dictionaryOf(resource)],
    without(overridesOf(resource, representation), isRepresentationMetadata),
  ),
  content: { kind: 'none' },
})

/** Returns a cached 200. */
export const okAnswer: MakeAnswer = memoizeWeakly(makeOkAnswer)
export const notModifiedAnswer: MakeAnswer = memoizeWeakly(makeNotModifiedAnswer)

const noSniff = ['X-Content-Type-Options', 'nosniff']

/** The `Retry-After` of a 503, if no rule sets it. */
export const retryAfter: readonly string[] = ['Retry-After', '60']

/** Returns a cached 404 with a representation as its page. */
export const notFoundAnswer: MakeAnswer = memoizeWeakly(makeErrorAnswer(404))
/** Returns a cached 503 with a representation as its page. */
export const unavailableAnswer: MakeAnswer = memoizeWeakly(makeErrorAnswer(503, retryAfter))

function makeErrorAnswer(status: number, more: readonly string[] = []): MakeAnswer {
  const noStore = ['Cache-Control', 'no-store', ...noSniff, ...more]
  return (representation, resource) => {
    const fields = [...metadataOf(resource, representation), ...varyOf(resource), ...noStore]
    return {
      status,
      fields: overrideFields(fields, without(resource.overrides, isFreshnessField)),
      content: contentOf(representation.bytes),
      ...savedBytesOf(resource, representation),
    }
  }
}

function metadataOf({ mediaType }: Resource, { coding, bytes }: Representation): string[] {
  const encoding = coding === 'identity' ? [] : ['Content-Encoding', coding]
  return ['Content-Type', mediaType, 'Content-Length', String(bytes.size), ...encoding]
}

export function varyOf({ vary }: Pick<Resource, 'vary'>): string[] {
  return vary === undefined ? [] : ['Vary', vary]
}

function freshnessOf(resource: Resource, representation: Representation): string[] {
  const { lastModifiedField, cacheControl } = resource
  const lastModified = lastModifiedField === undefined ? [] : ['Last-Modified', lastModifiedField]
  const kept = isPrivate(resource, representation) ? 'private, max-age=31536000, immutable' : cacheControl
  return ['ETag', representation.entityTag, ...lastModified, 'Cache-Control', kept]
}

/** A cache that ignores `Vary` would send a delta to browsers that cannot decode it. */
function isPrivate({ deltas }: Resource, { coding }: Representation): boolean {
  return deltas?.inSharedCaches === false && (coding === 'dcz' || coding === 'dcb')
}

function overridesOf(resource: Resource, representation: Representation): FieldOverrides {
  const { overrides } = resource
  return isPrivate(resource, representation) ? withoutFreshness(overrides) : overrides
}

function dictionaryOf({ useAsDictionary }: Resource): string[] {
  return useAsDictionary === undefined ? [] : ['Use-As-Dictionary', useAsDictionary]
}

function contentOf(bytes: StoredBytes): AnswerContent {
  return bytes.body === undefined
    ? { kind: 'file', stored: bytes, first: 0, end: bytes.size }
    : { kind: 'memory', bytes: bytes.body }
}

/** Returns the number of bytes that the coding saves; nothing for identity. */
export function savedBytesOf(
  { identity }: Resource,
  { coding, bytes }: Representation,
): Pick<Answer, 'savedBytes'> {
  return coding === 'identity' ? {} : { savedBytes: identity.bytes.size - bytes.size }
}

/** RFC 9110 §15.4.5: a 304 omits the metadata of a representation that it does not contain. */
function isRepresentationMetadata(name: string): boolean {
  return (
    name.startsWith('content-') && !name.startsWith('content-security-policy') && name !== 'content-location'
  )
}

/**
 * Returns whether a field controls caching. Errors must not be stored, and CDNs obey their own fields before
 * `Cache-Control` (RFC 9213 §2.1; `Surrogate-Control` of Edge Architecture 1.0, `X-Accel-Expires` of nginx,
 * `Edge-Control` of Akamai).
 */
export function isFreshnessField(name: string): boolean {
  return name.endsWith('cache-control') || freshnessOfCaches.has(name)
}

const freshnessOfCaches: ReadonlySet<string> = new Set([
  'edge-control',
  'expires',
  'surrogate-control',
  'x-accel-expires',
])

/** Removes the rules for caching, for content that may change at any time. */
export function withoutFreshness(overrides: FieldOverrides): FieldOverrides {
  return without(overrides, isFreshnessField)
}

/**
 * Forbids shared caches to keep protected files. Without such a directive they keep no answer to a request
 * with `Authorization` (RFC 9111 §3.5).
 */
export function withPrivateFreshness(overrides: FieldOverrides): FieldOverrides {
  const entries = Array.from(overrides, ([key, { name, value }]) => {
    const isKept = value === null || !key.endsWith('cache-control') || !permitsSharedCaches.test(value)
    return [key, { name, value: isKept ? value : privately(value) }] as const
  })
  return new Map(entries)
}

const permitsSharedCaches = /\b(?:public|s-maxage|must-revalidate)\b/i

function privately(cacheControl: string): string {
  const directives = cacheControl.split(',').map((directive) => directive.trim())
  return ['private', ...directives.filter((text) => !/^(?:public|private|s-maxage=.*)$/i.test(text))].join(
    ', ',
  )
}

function without(overrides: FieldOverrides, isLeftOut: (name: string) => boolean): FieldOverrides {
  if (overrides.size === 0) return overrides
  return new Map([...overrides].filter(([name]) => !isLeftOut(name)))
}
