import { entityTagOf } from '../protocol/entity-tag.ts'
import { type FieldOverrides, overrideFields } from '../protocol/field-list.ts'
import type { Answer, AnswerContent, Representation, RepresentationCoding, StoredBytes } from './site.ts'

/** What all representations of a resource have in common. */
export interface ResourceParts {
  readonly mediaType: string
  /** Whether a request's `Accept-Encoding` changes the answer. */
  readonly varies: boolean
  readonly lastModifiedField: string | undefined
  readonly cacheControl: string
  /** Members of the `Link` field. */
  readonly links: readonly string[]
  readonly overrides: FieldOverrides
  /** Links of a 103. */
  readonly earlyHints: readonly string[]
  /** Bytes of the identity. */
  readonly size: number
}

/** What an entity tag is made of, or the tag itself. */
export type Validator = { readonly sha256: string } | { readonly entityTag: string }

/** One representation with its answers: 200, 304, and 404 where it is the page of one. */
export function buildRepresentation(
  coding: RepresentationCoding,
  bytes: StoredBytes,
  { validator, parts }: { readonly validator: Validator; readonly parts: ResourceParts },
): Representation {
  return new AnsweredRepresentation(coding, bytes, validator, parts)
}

/**
 * Makes each answer when it is first asked for, and keeps it: of 10,000 files most are never asked for in
 * all codings, and boot would make 120,000 heads (docs/decisions/014-boot.md).
 */
class AnsweredRepresentation implements Representation {
  readonly coding: RepresentationCoding
  readonly bytes: StoredBytes
  readonly #validator: Validator
  readonly #parts: ResourceParts
  #entityTag: string | undefined
  #ok: Answer | undefined
  #notModified: Answer | undefined
  #notFound: Answer | undefined

  constructor(coding: RepresentationCoding, bytes: StoredBytes, validator: Validator, parts: ResourceParts) {
    this.coding = coding
    this.bytes = bytes
    this.#validator = validator
    this.#parts = parts
  }

  get entityTag(): string {
    this.#entityTag ??=
      'sha256' in this.#validator ? entityTagOf(this.#validator.sha256) : this.#validator.entityTag
    return this.#entityTag
  }

  get ok(): Answer {
    this.#ok ??= okAnswer(this, this.#parts)
    return this.#ok
  }

  get notModified(): Answer {
    this.#notModified ??= notModifiedAnswer(this, this.#parts)
    return this.#notModified
  }

  get notFound(): Answer {
    this.#notFound ??= notFoundAnswer(this, this.#parts)
    return this.#notFound
  }
}

type Described = Pick<Representation, 'coding' | 'bytes' | 'entityTag'>

function okAnswer(described: Described, parts: ResourceParts): Answer {
  const { coding, bytes } = described
  const fields = [
    ...metadataOf(described, parts),
    ...varyOf(parts),
    ...freshnessOf(described, parts),
    ...(coding === 'identity' ? ['Accept-Ranges', 'bytes'] : []),
    ...noSniff,
    ...(parts.links.length === 0 ? [] : ['Link', parts.links.join(', ')]),
  ]
  return {
    status: 200,
    fields: overrideFields(fields, parts.overrides),
    content: contentOf(bytes),
    ...(parts.earlyHints.length > 0 && { earlyHints: parts.earlyHints }),
    ...savedBy(described, parts),
  }
}

function notModifiedAnswer(described: Described, parts: ResourceParts): Answer {
  return {
    status: 304,
    fields: overrideFields(
      [...varyOf(parts), ...freshnessOf(described, parts)],
      without(parts.overrides, isRepresentationMetadata),
    ),
    content: { kind: 'none' },
  }
}

function notFoundAnswer(described: Described, parts: ResourceParts): Answer {
  const fields = [...metadataOf(described, parts), ...varyOf(parts), 'Cache-Control', 'no-store', ...noSniff]
  return {
    status: 404,
    fields: overrideFields(fields, without(parts.overrides, isFreshness)),
    content: contentOf(described.bytes),
    ...savedBy(described, parts),
  }
}

const noSniff = ['X-Content-Type-Options', 'nosniff']

function metadataOf({ coding, bytes }: Described, { mediaType }: ResourceParts): string[] {
  const encoding = coding === 'identity' ? [] : ['Content-Encoding', coding]
  return ['Content-Type', mediaType, 'Content-Length', String(bytes.size), ...encoding]
}

function varyOf({ varies }: ResourceParts): string[] {
  return varies ? ['Vary', 'Accept-Encoding'] : []
}

function freshnessOf({ entityTag }: Described, { lastModifiedField, cacheControl }: ResourceParts): string[] {
  const lastModified = lastModifiedField === undefined ? [] : ['Last-Modified', lastModifiedField]
  return ['ETag', entityTag, ...lastModified, 'Cache-Control', cacheControl]
}

function contentOf(bytes: StoredBytes): AnswerContent {
  return bytes.body === undefined
    ? { kind: 'file', stored: bytes, first: 0, end: bytes.size }
    : { kind: 'memory', bytes: bytes.body }
}

function savedBy({ coding, bytes }: Described, { size }: ResourceParts): Pick<Answer, 'savedBytes'> {
  return coding === 'identity' ? {} : { savedBytes: size - bytes.size }
}

/** RFC 9110 §15.4.5: a 304 leaves out what describes the representation that it does not carry. */
function isRepresentationMetadata(name: string): boolean {
  return (
    name.startsWith('content-') && !name.startsWith('content-security-policy') && name !== 'content-location'
  )
}

/**
 * An error is never stored, however long its page may be: by no CDN either, which obeys a field of its own
 * before `Cache-Control` (RFC 9213 §2.1; `Surrogate-Control` of Edge Architecture 1.0).
 */
function isFreshness(name: string): boolean {
  return name.endsWith('cache-control') || name === 'surrogate-control' || name === 'expires'
}

function without(overrides: FieldOverrides, isLeftOut: (name: string) => boolean): FieldOverrides {
  if (overrides.size === 0) return overrides
  return new Map([...overrides].filter(([name]) => !isLeftOut(name)))
}
