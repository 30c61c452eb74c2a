import { isPageType, type ManifestFile, type ManifestLink } from '@serve-dist/manifest'
import { entityTagOf } from '../protocol/entity-tag.ts'
import type { FieldOverrides } from '../protocol/field-list.ts'
import { type BuildDictionaries, buildDictionaries, dictionaryPart } from './dictionary-part.ts'
import { overridesFor } from './field-rules.ts'
import type { StoredBuild } from './kept-build.ts'
import type { SitePolicy } from './resolve-policy.ts'
import { formatHttpDate } from '../protocol/http-date.ts'
import { pageUrls } from './page-urls.ts'
import { encodePath } from '../protocol/request-path.ts'
import { withoutFreshness } from './representation-answers.ts'
import { isImmutable, type ResolvedServing } from './resolve-serving.ts'
import type { ManifestEntry, PlainRepresentation, Resource, StoredBytes } from './site.ts'

/** What a resource takes from its build, and from the site that it belongs to. */
export interface ResourceContext {
  /** As in the manifest. */
  readonly base: string
  readonly timesAreFixed: boolean
  readonly stored: ReadonlyMap<ManifestEntry, StoredBytes>
  readonly serving: ResolvedServing
  readonly buildId: string | undefined
  readonly dictionaries: BuildDictionaries | undefined
}

/** @param buildId - of an earlier build than the site's. */
export function resourceContext(
  { manifest, stored, deltas }: StoredBuild,
  serving: ResolvedServing,
  buildId?: string,
): ResourceContext {
  const { base, timesAreFixed } = manifest
  // Browsers get the current build's for the next one.
  const isServedOn = buildId !== undefined || deltas === undefined
  const dictionaries = isServedOn ? undefined : buildDictionaries(manifest, deltas, serving)
  return { base, timesAreFixed: timesAreFixed === true, stored, serving, buildId, dictionaries }
}

/** One list for all files that need nothing else. */
const none: readonly string[] = []

/** A file of the manifest in all its representations. */
export function buildResource(
  file: ManifestFile,
  { base, stored, serving, timesAreFixed, buildId, dictionaries }: ResourceContext,
): Resource {
  const { path, mediaType, links } = file
  // Another start gives it other bytes under the same name, and at no time that anybody knows.
  const isRuntime = file.runtime === true
  // A browser that kept it would keep the policy of then with it, and the origins of an environment of then.
  const isOfWorker = file.worker === true && serving.policy !== undefined
  const lastModified = timesAreFixed || isRuntime ? undefined : Date.parse(file.lastModified)
  const represent = (coding: PlainRepresentation['coding'], entry: ManifestEntry): PlainRepresentation => {
    const bytes = stored.get(entry)
    if (bytes === undefined) throw new TypeError(`"${path}" was not read from the disk`)
    return { coding, bytes, entityTag: entityTagOf(entry.sha256) }
  }
  const identity = represent('identity', file)
  const urlPaths = pageUrls(path).map((name) => base + name)
  const rules = overridesFor(serving.fieldRules, file, urlPaths)
  const overrides = isRuntime ? withoutFreshness(rules) : withPolicy(rules, file, serving.policy)
  const variants = buildId === undefined ? file.variants : file.variants.filter((each) => stored.has(each))
  const inOrder = variants.map((variant) => represent(variant.coding, variant))
  inOrder.push(identity)
  const cacheControl =
    isImmutable(serving, file) && !isRuntime && !isOfWorker
      ? 'public, max-age=31536000, immutable'
      : 'no-cache'
  const { useAsDictionary, deltas } = dictionaryPart(file, dictionaries, { cacheControl, overrides })
  const byCoding = file.variants.length > 0 ? 'Accept-Encoding' : undefined
  const isByDictionary = useAsDictionary !== undefined || deltas !== undefined
  return {
    kind: 'resource',
    path,
    buildId,
    mediaType,
    isPage: isPageType(mediaType),
    // Sorting is stable: among equal sizes the default order stays.
    representations:
      serving.prefer === 'smallest' ? inOrder.toSorted((a, b) => a.bytes.size - b.bytes.size) : inOrder,
    identity,
    vary: isByDictionary ? 'Accept-Encoding, Available-Dictionary' : byCoding,
    useAsDictionary,
    deltas,
    lastModified,
    lastModifiedField: lastModified === undefined ? undefined : formatHttpDate(lastModified),
    cacheControl,
    overrides,
    links: linksOf(
      base,
      links?.filter(({ inDocument }) => !inDocument),
    ),
    earlyHints: linksOf(base, links),
  }
}

/** The policy of a page has its hashes; the script of a worker obeys that of its own response (CSP Level 3 §4.2.1). */
function withPolicy(
  overrides: FieldOverrides,
  { policy: page, worker }: ManifestFile,
  policy: SitePolicy | undefined,
): FieldOverrides {
  if (policy === undefined || (page === undefined && worker !== true)) return overrides
  const key = policy.field.toLowerCase()
  // A rule may take the field away.
  if (overrides.get(key)?.value === null) return overrides
  return new Map([...overrides, [key, { name: policy.field, value: policy.valueFor(page) }]])
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
