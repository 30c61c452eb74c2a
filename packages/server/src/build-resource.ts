import { type ManifestFile, type ManifestLink, variantPath } from '@serve-dist/manifest'
import { preflightAnswer } from './answers.ts'
import { entityTagOf } from './entity-tag.ts'
import { type FieldOverrides, overrideFields } from './field-list.ts'
import { formatHttpDate } from './http-date.ts'
import { namesOf } from './names-of.ts'
import { encodePath } from './request-path.ts'
import type { ResolvedServing } from './resolve-serving.ts'
import type { AnswerContent, Representation, Resource, StoredBytes } from './site.ts'

/** What a resource takes from the site that it belongs to. */
export interface ResourceContext {
  /** As in the manifest. */
  readonly base: string
  readonly timesAreFixed: boolean
  readonly stored: ReadonlyMap<string, StoredBytes>
  readonly serving: Pick<ResolvedServing, 'prefer' | 'isImmutable' | 'overridesFor'>
}

const cacheControl = { immutable: 'public, max-age=31536000, immutable', revalidate: 'no-cache' }

/** A file of the manifest in all its representations, with every answer that carries one. */
export function buildResource(
  file: ManifestFile,
  { base, stored, serving, timesAreFixed }: ResourceContext,
): Resource {
  const lastModified = timesAreFixed ? undefined : Date.parse(file.lastModified)
  const lastModifiedField = lastModified === undefined ? undefined : formatHttpDate(lastModified)
  const parts: ResourceParts = {
    contentType: ['Content-Type', file.mediaType],
    vary: file.variants.length > 0 ? ['Vary', 'Accept-Encoding'] : [],
    lastModified: lastModifiedField === undefined ? [] : ['Last-Modified', lastModifiedField],
    cacheControl: ['Cache-Control', cacheControl[serving.isImmutable(file) ? 'immutable' : 'revalidate']],
    links: linksOf(
      base,
      file.links?.filter(({ inDocument }) => !inDocument),
    ),
    overrides: serving.overridesFor(
      file,
      namesOf(file.path).map((name) => base + name),
    ),
    earlyHints: linksOf(base, file.links),
    size: file.size,
  }
  const variants = file.variants.map(({ coding, sha256 }) => {
    const bytes = storedUnder(variantPath(file.path, coding), stored)
    return buildRepresentation(coding, bytes, entityTagOf(sha256), parts)
  })
  const identity = buildRepresentation(
    'identity',
    storedUnder(file.path, stored),
    entityTagOf(file.sha256),
    parts,
  )
  const inOrder = [...variants, identity]
  return {
    kind: 'resource',
    path: file.path,
    isPage: file.mediaType.startsWith('text/html'),
    // Sorting is stable: among equal sizes the default order stays.
    representations:
      serving.prefer === 'smallest' ? inOrder.toSorted((a, b) => a.bytes.size - b.bytes.size) : inOrder,
    identity,
    lastModified,
    lastModifiedField,
    varies: variants.length > 0,
    ...(isForOtherOrigins(parts.overrides) && { preflight: preflightAnswer(parts.overrides) }),
  }
}

function isForOtherOrigins(overrides: FieldOverrides): boolean {
  return typeof overrides.get('access-control-allow-origin')?.value === 'string'
}

/** What all representations of a resource have in common. */
export interface ResourceParts {
  readonly contentType: readonly string[]
  readonly vary: readonly string[]
  readonly lastModified: readonly string[]
  readonly cacheControl: readonly string[]
  /** Members of the `Link` field. */
  readonly links: readonly string[]
  readonly overrides: FieldOverrides
  /** Links of a 103. */
  readonly earlyHints: readonly string[]
  /** Bytes of the identity. */
  readonly size: number
}

/** One representation with its answers: 200, 304, and 404 where it is the page of one. */
export function buildRepresentation(
  coding: Representation['coding'],
  bytes: StoredBytes,
  entityTag: string,
  parts: ResourceParts,
): Representation {
  const content: AnswerContent =
    bytes.body === undefined
      ? { kind: 'file', stored: bytes, first: 0, end: bytes.size }
      : { kind: 'memory', bytes: bytes.body }
  const saved = coding === 'identity' ? {} : { savedBytes: parts.size - bytes.size }
  const encoding = coding === 'identity' ? [] : ['Content-Encoding', coding]
  const acceptRanges = coding === 'identity' ? ['Accept-Ranges', 'bytes'] : []
  const metadata = [...parts.contentType, 'Content-Length', String(bytes.size), ...encoding]
  const freshness = ['ETag', entityTag, ...parts.lastModified, ...parts.cacheControl]
  const noSniff = ['X-Content-Type-Options', 'nosniff']
  const link = parts.links.length === 0 ? [] : ['Link', parts.links.join(', ')]
  const ok = [...metadata, ...parts.vary, ...freshness, ...acceptRanges, ...noSniff, ...link]
  const notFound = [...metadata, ...parts.vary, 'Cache-Control', 'no-store', ...noSniff]
  return {
    coding,
    bytes,
    entityTag,
    ok: {
      status: 200,
      fields: overrideFields(ok, parts.overrides),
      content,
      ...(parts.earlyHints.length > 0 && { earlyHints: parts.earlyHints }),
      ...saved,
    },
    notModified: {
      status: 304,
      fields: overrideFields(
        [...parts.vary, ...freshness],
        without(parts.overrides, isRepresentationMetadata),
      ),
      content: { kind: 'none' },
    },
    notFound: {
      status: 404,
      fields: overrideFields(notFound, without(parts.overrides, isFreshness)),
      content,
      ...saved,
    },
  }
}

/** RFC 9110 §15.4.5: a 304 leaves out what describes the representation that it does not carry. */
function isRepresentationMetadata(name: string): boolean {
  return (
    name.startsWith('content-') && !name.startsWith('content-security-policy') && name !== 'content-location'
  )
}

/** An error is never stored, however long its page may be. */
function isFreshness(name: string): boolean {
  return name === 'cache-control' || name === 'expires'
}

function without(overrides: FieldOverrides, isLeftOut: (name: string) => boolean): FieldOverrides {
  if (overrides.size === 0) return overrides
  return new Map([...overrides].filter(([name]) => !isLeftOut(name)))
}

/** What a page needs as members of a `Link` field (RFC 8288). */
function linksOf(base: string, links: readonly ManifestLink[] = []): readonly string[] {
  return links.map(({ path, rel, as, crossorigin = false }) => {
    const kind = as === undefined ? '' : `; as=${as}`
    // Module scripts and fonts are fetched in CORS mode, and a hint in another mode would be fetched twice.
    const mode = crossorigin || rel === 'modulepreload' || as === 'font' ? '; crossorigin' : ''
    return `<${encodePath(base + path)}>; rel=${rel}${kind}${mode}`
  })
}

function storedUnder(path: string, stored: ReadonlyMap<string, StoredBytes>): StoredBytes {
  const bytes = stored.get(path)
  if (bytes === undefined) throw new TypeError(`"${path}" was not read from the disk`)
  return bytes
}
