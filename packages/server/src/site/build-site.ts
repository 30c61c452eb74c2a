import type { Manifest } from '@serve-dist/manifest'
import { buildIdResource } from './build-id-resource.ts'
import { buildResource, resourceContext } from './build-resource.ts'
import { buildTable, type KeptPath } from './build-table.ts'
import { isKeptFile, type KeptBuild, listDeltas, type StoredBuild } from './kept-build.ts'
import { encodePath } from '../protocol/request-path.ts'
import { keptListResource } from './kept-list-resource.ts'
import type { ResolvedServing } from './resolve-serving.ts'
import type { Site, SiteEnvironment } from './site.ts'

/** A site, and one line for each redirect rule that has no effect. */
export interface BuiltSite {
  readonly site: Site
  readonly problems: readonly string[]
}

/**
 * Creates a site: the table of paths and everything that answers are made of.
 *
 * @param kept - earlier builds, the newest first.
 */
export function buildSite(
  { manifest, stored, deltas }: StoredBuild,
  serving: ResolvedServing,
  kept: readonly KeptBuild[] = [],
): BuiltSite {
  const base = encodePath(manifest.base)
  const context = resourceContext({ manifest, stored, deltas }, serving)
  const resources = new Map(manifest.files.map((file) => [file.path, buildResource(file, context)]))
  const listed = keptListResource({ current: { manifest, stored }, kept, serving, table: () => table })
  const { table, redirects, problems } = buildTable({
    base,
    resources,
    redirects: serving.redirects,
    made: [buildIdResource(manifest, serving), ...(serving.keptList ? [listed] : [])],
    kept: keptPaths(kept, serving),
  })
  const pages = [...resources.values()].filter(({ isPage }) => isPage)
  const notFound = resources.get('404.html')
  const keptFiles = [...table.values()].flatMap((entry) =>
    entry.kind === 'resource' && entry.buildId !== undefined ? [entry] : [],
  )
  const bytes = new Set([
    ...stored.values(),
    ...listDeltas(deltas).map((delta) => delta.bytes),
    ...keptFiles.flatMap(({ representations }) => representations.map((each) => each.bytes)),
  ])
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
    health: serving.health,
    basicAuth: serving.basicAuth,
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
      bytesInMemory: [...bytes].reduce((sum, { body }) => sum + (body?.length ?? 0), 0),
      unlistedFiles: 0,
      keptBuilds: new Set(keptFiles.map(({ buildId }) => buildId)).size,
      keptFiles: keptFiles.length,
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

/** Yields the paths of earlier builds below their own bases, with today's rules. */
function* keptPaths(kept: readonly KeptBuild[], serving: ResolvedServing): Generator<KeptPath> {
  for (const build of kept) {
    const { manifest } = build
    const context = resourceContext(build, serving, manifest.buildId)
    for (const file of manifest.files) {
      if (!isKeptFile(build, file, serving)) continue
      yield { path: encodePath(manifest.base + file.path), make: () => buildResource(file, context) }
    }
  }
}
