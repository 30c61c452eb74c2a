import { isPageType, type Manifest, type ManifestFile, type ManifestLink } from '@serve-dist/manifest'
import { buildTable } from './build-table.ts'
import { entityTagOf } from '../protocol/entity-tag.ts'
import type { FieldOverrides } from '../protocol/field-list.ts'
import { overridesFor } from './field-rules.ts'
import type { SitePolicy } from './resolve-policy.ts'
import { formatHttpDate } from '../protocol/http-date.ts'
import { namesOf } from './names-of.ts'
import { encodePath } from '../protocol/request-path.ts'
import { isFreshness } from './representation-answers.ts'
import { isImmutable, type ResolvedServing } from './resolve-serving.ts'
import type { ManifestEntry, Representation, Resource, Site, SiteEnvironment, StoredBytes } from './site.ts'

/** A site, and a line for each redirect rule that can never count. */
export interface BuiltSite {
  readonly site: Site
  readonly problems: readonly string[]
}

/**
 * Builds the table that requests are answered from, with all that their answers are made of.
 *
 * @param stored - by what the manifest says of them: its files and their variants.
 */
export function buildSite(
  manifest: Manifest,
  stored: ReadonlyMap<ManifestEntry, StoredBytes>,
  serving: ResolvedServing,
): BuiltSite {
  const base = encodePath(manifest.base)
  const context = { base: manifest.base, timesAreFixed: manifest.timesAreFixed === true, stored, serving }
  const resources = new Map(manifest.files.map((file) => [file.path, buildResource(file, context)]))
  const { table, redirects, problems } = buildTable({ base, resources, redirects: serving.redirects })
  const pages = [...resources.values()].filter(({ isPage }) => isPage)
  const notFound = resources.get('404.html')
  const site: Site = {
    directory: serving.directory,
    buildId: manifest.buildId,
    base,
    appType: manifest.appType,
    assetsPath:
      manifest.assetsDirectory === '' ? undefined : `${base}${encodePath(manifest.assetsDirectory)}/`,
    files: resources,
    table,
    redirects,
    index: resources.get('index.html'),
    singlePage: resources.get('200.html'),
    notFound,
    fallback: serving.fallback,
    earlyHints: serving.earlyHints,
    sourceMaps: serving.sourceMaps,
    ...(manifest.selection && { selection: manifest.selection }),
    fieldRules: serving.fieldRules,
    ...environmentOf(manifest),
    summary: {
      files: manifest.files.length,
      pages: pages.length,
      isNotFoundOnly:
        pages.length === 1 &&
        pages[0] === notFound &&
        !redirects.some(({ status, target }) => status === 200 && target?.isPage === true),
      variants: manifest.files.reduce((count, { variants }) => count + variants.length, 0),
      bytesInMemory: [...stored.values()].reduce((bytes, { body }) => bytes + (body?.length ?? 0), 0),
      unlistedFiles: 0,
    },
  }
  return { site, problems }
}

function environmentOf({ environment, files }: Manifest): { readonly environment?: SiteEnvironment } {
  if (environment === undefined) return {}
  const { path, prefix, variables } = environment
  const module = files.find((file) => file.path === path)
  const names = Object.keys(variables).map((name) => prefix + name)
  return module === undefined ? {} : { environment: { path, names, sha256: module.sha256 } }
}

/** What a resource takes from the site that it belongs to. */
interface ResourceContext {
  /** As in the manifest. */
  readonly base: string
  readonly timesAreFixed: boolean
  readonly stored: ReadonlyMap<ManifestEntry, StoredBytes>
  readonly serving: ResolvedServing
}

/** One list for all files that need nothing else. */
const none: readonly string[] = []

/** A file of the manifest in all its representations. */
function buildResource(
  file: ManifestFile,
  { base, stored, serving, timesAreFixed }: ResourceContext,
): Resource {
  const { path, mediaType, links } = file
  // Another start gives it other bytes under the same name, and at no time that anybody knows.
  const isRuntime = file.runtime === true
  // A browser that kept it would keep the policy of then with it, and the origins of an environment of then.
  const isOfWorker = file.worker === true && serving.policy !== undefined
  const lastModified = timesAreFixed || isRuntime ? undefined : Date.parse(file.lastModified)
  const represent = (coding: Representation['coding'], entry: ManifestEntry): Representation => {
    const bytes = stored.get(entry)
    if (bytes === undefined) throw new TypeError(`"${path}" was not read from the disk`)
    return { coding, bytes, entityTag: entityTagOf(entry.sha256) }
  }
  const identity = represent('identity', file)
  const urlPaths = namesOf(path).map((name) => base + name)
  const overrides = overridesFor(serving.fieldRules, file, urlPaths)
  const inOrder = file.variants.map((variant) => represent(variant.coding, variant))
  inOrder.push(identity)
  return {
    kind: 'resource',
    path,
    mediaType,
    isPage: isPageType(mediaType),
    // Sorting is stable: among equal sizes the default order stays.
    representations:
      serving.prefer === 'smallest' ? inOrder.toSorted((a, b) => a.bytes.size - b.bytes.size) : inOrder,
    identity,
    varies: file.variants.length > 0,
    lastModified,
    lastModifiedField: lastModified === undefined ? undefined : formatHttpDate(lastModified),
    cacheControl:
      isImmutable(serving, file) && !isRuntime && !isOfWorker
        ? 'public, max-age=31536000, immutable'
        : 'no-cache',
    overrides: isRuntime ? withoutFreshness(overrides) : withPolicy(overrides, file, serving.policy),
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

function withoutFreshness(overrides: FieldOverrides): FieldOverrides {
  return new Map([...overrides].filter(([name]) => !isFreshness(name)))
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
