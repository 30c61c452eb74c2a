import type { ManifestFile, ManifestLink } from '@serve-dist/manifest'
import { preflightAnswer } from './answers.ts'
import { buildRepresentation, type ResourceParts } from './build-representation.ts'
import { formatHttpDate } from '../protocol/http-date.ts'
import type { ManifestEntry } from '../files/inspect-file.ts'
import { namesOf } from './names-of.ts'
import { encodePath } from '../protocol/request-path.ts'
import type { ResolvedServing } from './resolve-serving.ts'
import type { Resource, StoredBytes } from './site.ts'

/** What a resource takes from the site that it belongs to. */
export interface ResourceContext {
  /** As in the manifest. */
  readonly base: string
  readonly timesAreFixed: boolean
  readonly stored: ReadonlyMap<ManifestEntry, StoredBytes>
  readonly serving: Pick<ResolvedServing, 'prefer' | 'isImmutable' | 'overridesFor'>
}

/** One list for all files that need nothing else. */
const none: readonly string[] = []
const cacheControl = { immutable: 'public, max-age=31536000, immutable', revalidate: 'no-cache' }

/** A file of the manifest in all its representations, each of which makes its answers. */
export function buildResource(
  file: ManifestFile,
  { base, stored, serving, timesAreFixed }: ResourceContext,
): Resource {
  const lastModified = timesAreFixed ? undefined : Date.parse(file.lastModified)
  const lastModifiedField = lastModified === undefined ? undefined : formatHttpDate(lastModified)
  const parts: ResourceParts = {
    mediaType: file.mediaType,
    varies: file.variants.length > 0,
    lastModifiedField,
    cacheControl: cacheControl[serving.isImmutable(file) ? 'immutable' : 'revalidate'],
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
  const bytesOf = (entry: ManifestEntry): StoredBytes => {
    const bytes = stored.get(entry)
    if (bytes === undefined) throw new TypeError(`"${file.path}" was not read from the disk`)
    return bytes
  }
  const variants = file.variants.map((variant) =>
    buildRepresentation(variant.coding, bytesOf(variant), { validator: variant, parts }),
  )
  const identity = buildRepresentation('identity', bytesOf(file), { validator: file, parts })
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
    varies: parts.varies,
    preflight: preflightAnswer(parts.overrides),
  }
}

/** What a page needs as members of a `Link` field (RFC 8288). */
function linksOf(base: string, links?: readonly ManifestLink[]): readonly string[] {
  if (links === undefined) return none
  return links.map(({ path, rel, as, crossorigin = false }) => {
    const kind = as === undefined ? '' : `; as=${as}`
    // Module scripts and fonts are fetched in CORS mode, and a hint in another mode would be fetched twice.
    const mode = crossorigin || rel === 'modulepreload' || as === 'font' ? '; crossorigin' : ''
    return `<${encodePath(base + path)}>; rel=${rel}${kind}${mode}`
  })
}
