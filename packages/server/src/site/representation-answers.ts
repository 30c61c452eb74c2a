import { type FieldOverrides, overrideFields } from '../protocol/field-list.ts'
import { memoizeWeakly } from './memoize-weakly.ts'
import type { Answer, AnswerContent, Representation, Resource, StoredBytes } from './site.ts'

// Made when they are first asked for: of 10,000 files most are never asked for in all codings, and boot would make 120,000
// heads (docs/decisions/014-boot.md).

type MakeAnswer = (representation: Representation, resource: Resource) => Answer

/** 200 with a representation, made anew: for who keeps nothing of it but its text. */
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

/** 304 for a client that has this representation, made anew as well. */
export const makeNotModifiedAnswer: MakeAnswer = (representation, resource) => ({
  status: 304,
  fields: overrideFields(
    [...varyOf(resource), ...freshnessOf(resource, representation), ...dictionaryOf(resource)],
    without(overridesOf(resource, representation), isRepresentationMetadata),
  ),
  content: { kind: 'none' },
})

/** 200; the same object each time, as those below. */
export const okAnswer: MakeAnswer = memoizeWeakly(makeOkAnswer)
export const notModifiedAnswer: MakeAnswer = memoizeWeakly(makeNotModifiedAnswer)

/** 404 with a representation as its page. */
export const notFoundAnswer: MakeAnswer = memoizeWeakly((representation, resource) => {
  const noStore = ['Cache-Control', 'no-store', ...noSniff]
  const fields = [...metadataOf(resource, representation), ...varyOf(resource), ...noStore]
  return {
    status: 404,
    fields: overrideFields(fields, without(resource.overrides, isFreshnessField)),
    content: contentOf(representation.bytes),
    ...savedBytesOf(resource, representation),
  }
})

const noSniff = ['X-Content-Type-Options', 'nosniff']

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

/** A cache that ignored `Vary` would send a delta to browsers that cannot decode it. */
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

/** What its coding saves of the body; nothing where it has none. */
export function savedBytesOf(
  { identity }: Resource,
  { coding, bytes }: Representation,
): Pick<Answer, 'savedBytes'> {
  return coding === 'identity' ? {} : { savedBytes: identity.bytes.size - bytes.size }
}

/** RFC 9110 §15.4.5: a 304 leaves out what describes the representation that it does not carry. */
function isRepresentationMetadata(name: string): boolean {
  return (
    name.startsWith('content-') && !name.startsWith('content-security-policy') && name !== 'content-location'
  )
}

/**
 * An error is never stored, however long its page may be: by no CDN either, which obeys a field of its own
 * before `Cache-Control` (RFC 9213 §2.1; `Surrogate-Control` of Edge Architecture 1.0, `X-Accel-Expires` of nginx,
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

/** Rules for what may be another at any time: its freshness is not theirs to say. */
export function withoutFreshness(overrides: FieldOverrides): FieldOverrides {
  return without(overrides, isFreshnessField)
}

function without(overrides: FieldOverrides, isLeftOut: (name: string) => boolean): FieldOverrides {
  if (overrides.size === 0) return overrides
  return new Map([...overrides].filter(([name]) => !isLeftOut(name)))
}
