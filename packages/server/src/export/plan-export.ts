import { fieldPairs } from '../protocol/field-pairs.ts'
import { contentCodings, type ContentCoding } from '@serve-dist/manifest'
import { chooseFallback, fallbackFor, type FallbackMatch } from '../site/decide.ts'
import { okAnswer } from '../site/representation-answers.ts'
import type { Resource, Site } from '../site/site.ts'

/** The plan of an export. It comes from the table that the server answers from, so both give the same answers. */
export interface ExportPlan {
  readonly site: Site
  /** The answer for each known path, in the order of the table. */
  readonly paths: readonly PlannedPath[]
  /** Every file that is the answer for a path. */
  readonly files: readonly ExportedFile[]
  /** Hashed files that differ only in their types, so that one rule covers them. */
  readonly assets: AssetClass | undefined
  /** The most common order of codings, preferred codings first. */
  readonly codings: readonly ContentCoding[]
  /** The answer for an unknown path, and for an unknown path in the assets folder. */
  readonly unknown: FallbackMatch | undefined
  readonly unknownAsset: FallbackMatch | undefined
}

export type PlannedPath =
  | { readonly kind: 'file'; readonly path: string; readonly file: ExportedFile }
  | { readonly kind: 'redirect'; readonly path: string; readonly status: number; readonly location: string }
  | { readonly kind: 'hidden'; readonly path: string; readonly page: ExportedFile }

export interface ExportedFile {
  readonly resource: Resource
  /** The decoded path of the URL without its first slash. */
  readonly place: string
  readonly mediaType: string
  /** The headers of a 200 response, except those that hosts derive from the file. */
  readonly fields: readonly Field[]
  readonly codings: readonly ContentCoding[]
  /** Whether the modification time is known and may be sent. */
  readonly hasTime: boolean
}

export type Field = readonly [name: string, value: string]

export interface AssetClass {
  /** The percent-encoded path with a slash at the end. */
  readonly path: string
  readonly fields: readonly Field[]
  /** The media type of each extension, which is case-sensitive. */
  readonly mediaTypes: ReadonlyMap<string, string>
  readonly files: ReadonlySet<ExportedFile>
  readonly hasTime: boolean
}

const madeByHosts = new Set([
  'accept-ranges',
  'content-encoding',
  'content-length',
  'content-type',
  'etag',
  'last-modified',
])

/** Plans the export of a site for hosts that only serve files. */
export function planExport(site: Site): ExportPlan {
  const files = new Map<Resource, ExportedFile>()
  const fileOf = (resource: Resource): ExportedFile => {
    const known = files.get(resource) ?? describeFile(site, resource)
    files.set(resource, known)
    return known
  }
  const paths = [...site.table].flatMap(([path, entry]): readonly PlannedPath[] => {
    if (entry.kind === 'redirect') return [{ ...entry, path }]
    if (entry.kind === 'resource') return [{ kind: 'file', path, file: fileOf(entry) }]
    if (entry.kind === 'proxied') return []
    return entry.page === undefined ? [] : [{ kind: 'hidden', path, page: fileOf(entry.page) }]
  })
  const fallback = fallbackFor(site, 'standalone', undefined)
  const match = (path: string): FallbackMatch | undefined =>
    chooseFallback({ ...site, redirects: [] }, { path, fallback })
  const unknown = match(`${site.base}serve-dist-unknown`)
  const unknownAsset =
    site.assetsPath === undefined ? undefined : match(`${site.assetsPath}serve-dist-unknown`)
  for (const found of [unknown, unknownAsset, ...site.redirects]) {
    if (found?.target !== undefined) fileOf(found.target)
  }
  return {
    site,
    paths,
    files: [...files.values()],
    assets: classOfAssets(site, paths),
    codings: orderOfCodings([...files.keys()]),
    unknown,
    unknownAsset,
  }
}

/** Returns the decoded path of a URL without its first slash. */
export function decodeUrlPath(path: string): string {
  return decodeURIComponent(path.slice(1))
}

function describeFile({ base }: Site, resource: Resource): ExportedFile {
  const pairs: Field[] = [...fieldPairs(okAnswer(resource.identity, resource))]
  const sent = pairs.filter(([name]) => !madeByHosts.has(name.toLowerCase()))
  return {
    resource,
    place: decodeUrlPath(base) + resource.path,
    mediaType: pairs.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? resource.mediaType,
    fields: sent,
    hasTime: resource.lastModified !== undefined,
    codings: contentCodings
      .map(({ name }) => name)
      .filter((name) => resource.representations.some(({ coding }) => coding === name)),
  }
}

function keyOfFields(fields: readonly Field[]): string {
  return fields
    .filter(([name, value]) => name !== 'Vary' || value !== 'Accept-Encoding')
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

function extensionOf(place: string): string {
  return /[^/]\.([^./]+)$/.exec(place)?.[1] ?? ''
}

function classOfAssets(site: Site, paths: readonly PlannedPath[]): AssetClass | undefined {
  const { assetsPath } = site
  if (assetsPath === undefined) return undefined
  const places = new Set(paths.flatMap((each) => (each.kind === 'file' ? [each.file.place] : [])))
  const candidates = paths.flatMap((each) => {
    if (each.kind !== 'file' || !each.path.startsWith(assetsPath)) return []
    const { file } = each
    const isOwn = decodeUrlPath(each.path) === file.place && /^[A-Za-z0-9_+-]+$/.test(extensionOf(file.place))
    // A file with the name of a variant may be an independent file.
    const isClear = contentCodings.every(({ extension }) => !places.has(file.place + extension))
    const isVariant = contentCodings.some(({ extension }) => file.place.endsWith(extension))
    return isOwn && isClear && !isVariant ? [file] : []
  })
  const common = mostCommon(candidates.map(keyOf))
  if (common === undefined) return undefined
  const alike = candidates.filter((file) => keyOf(file) === common)
  const mediaTypes = new Map<string, string>()
  for (const extension of new Set(alike.map(({ place }) => extensionOf(place)))) {
    const types = alike.flatMap(({ place, mediaType }) =>
      extensionOf(place) === extension ? [mediaType] : [],
    )
    mediaTypes.set(extension, mostCommon(types) ?? '')
  }
  const files = alike.filter(({ place, mediaType }) => mediaTypes.get(extensionOf(place)) === mediaType)
  const [first] = files
  if (first === undefined) return undefined
  const fields = first.fields.filter(([name, value]) => name !== 'Vary' || value !== 'Accept-Encoding')
  return { path: assetsPath, fields, mediaTypes, files: new Set(files), hasTime: first.hasTime }
}

function keyOf({ fields, hasTime }: ExportedFile): string {
  return `${hasTime} ${keyOfFields(fields)}`
}

function mostCommon(values: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0]
}

/** Returns the most common order of codings, because hosts use the same order for all files. */
function orderOfCodings(resources: readonly Resource[]): readonly ContentCoding[] {
  const orders = resources
    .map(({ representations }) => representations.map(({ coding }) => coding).filter(isContentCoding))
    .filter((order) => order.length > 1)
  const common = mostCommon(orders.map((order) => order.join()))?.split(',') ?? []
  const rest = contentCodings.map(({ name }) => name)
  return [...new Set([...rest.filter((name) => common.includes(name)).toSorted(by(common)), ...rest])]
}

function by(order: readonly string[]): (one: string, other: string) => number {
  return (one, other) => order.indexOf(one) - order.indexOf(other)
}

function isContentCoding(coding: string): coding is ContentCoding {
  return coding !== 'identity'
}
