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
import { isExceptedPath } from './is-excepted-path.ts'
import { withoutFreshness, withPrivateFreshness } from './representation-answers.ts'
import { isImmutable, type ResolvedServing } from './resolve-serving.ts'
import type { ManifestEntry, PlainRepresentation, Resource, StoredBytes } from './site.ts'

/** The input of `buildResource` that is the same for all files of a build. */
export interface ResourceContext {
  /** As in the manifest. */
  readonly base: string
  readonly timesAreFixed: boolean
  readonly stored: ReadonlyMap<ManifestEntry, StoredBytes>
  readonly serving: ResolvedServing
  readonly buildId: string | undefined
  readonly dictionaries: BuildDictionaries | undefined
}

/** @param buildId - the id of an earlier build; omit it for the current build. */
export function resourceContext(
  { manifest, stored, deltas }: StoredBuild,
  serving: ResolvedServing,
  buildId?: string,
): ResourceContext {
  const { base, timesAreFixed } = manifest
  // Only files of the current build become dictionaries for the next one.
  const isServedOn = buildId !== undefined || deltas === undefined
  const dictionaries = isServedOn ? undefined : buildDictionaries(manifest, deltas, serving)
  return { base, timesAreFixed: timesAreFixed === true, stored, serving, buildId, dictionaries }
}

/** One shared array saves memory. */
const none: readonly string[] = []

/** Creates a resource with all its representations from a file of the manifest. */
export function buildResource(
  file: ManifestFile,
  { base, stored, serving, timesAreFixed, buildId, dictionaries }: ResourceContext,
): Resource {
  const { path, mediaType, links } = file
  // The next start may write other bytes under this name, at an unknown time.
  const isRuntime = file.runtime === true
  // A cached worker script would keep an outdated policy and outdated origins of the environment.
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
  const { basicAuth } = serving
  const isProtected =
    basicAuth !== undefined && !urlPaths.every((name) => isExceptedPath(basicAuth, encodePath(name)))
  const fields = isRuntime ? withoutFreshness(rules) : withPolicy(rules, file, serving.policy)
  const overrides = isProtected ? withPrivateFreshness(fields) : fields
  const variants = buildId === undefined ? file.variants : file.variants.filter((each) => stored.has(each))
  const inOrder = variants.map((variant) => represent(variant.coding, variant))
  inOrder.push(identity)
  const cacheControl =
    isImmutable(serving, file) && !isRuntime && !isOfWorker
      ? `${isProtected ? 'private' : 'public'}, max-age=31536000, immutable`
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
    // The sort is stable: representations of equal size keep the default order.
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

/**
 * Adds the policy. A page has hashes; a worker script has the policy of its own response (CSP Level 3
 * §4.2.1).
 */
function withPolicy(
  overrides: FieldOverrides,
  { policy: page, worker }: ManifestFile,
  policy: SitePolicy | undefined,
): FieldOverrides {
  if (policy === undefined || (page === undefined && worker !== true)) return overrides
  const key = policy.field.toLowerCase()
  // A rule can remove the field.
  if (overrides.get(key)?.value === null) return overrides
  return new Map([...overrides, [key, { name: policy.field, value: policy.valueFor(page) }]])
}

/** Returns the members of a `Link` field (RFC 8288). */
function linksOf(base: string, links?: readonly ManifestLink[]): readonly string[] {
  if (links === undefined) return none
  return links.map(({ path, rel, as, crossorigin = false }) => {
    const kind = as === undefined ? '' : `; as=${as}`
    // Browsers fetch module scripts and fonts in CORS mode. A hint in another mode causes a second fetch.
    const mode = crossorigin || rel === 'modulepreload' || as === 'font' ? '; crossorigin' : ''
    return `<${encodePath(base + path)}>; rel=${rel}${kind}${mode}`
  })
}
