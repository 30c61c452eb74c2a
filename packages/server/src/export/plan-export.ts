import { fieldPairs } from '../protocol/field-pairs.ts'
import { contentCodings, type ContentCoding } from '@serve-dist/manifest'
import { chooseFallback, fallbackFor, type FallbackMatch } from '../site/decide.ts'
import { okAnswer } from '../site/representation-answers.ts'
import type { Resource, Site } from '../site/site.ts'

/** What every host is told, taken from the table that the server answers from: nothing is decided twice. */
export interface ExportPlan {
  readonly site: Site
  /** What is answered under each known path, in the table's order. */
  readonly paths: readonly PlannedPath[]
  /** Every file that some path is answered with. */
  readonly files: readonly ExportedFile[]
  /** Hashed files that differ in nothing but their types: one rule stands for all of them. */
  readonly assets: AssetClass | undefined
  /** Codings, most preferred first, as most files have them. */
  readonly codings: readonly ContentCoding[]
  /** What an unknown path gets, and one in the folder of hashed assets. */
  readonly unknown: FallbackMatch | undefined
  readonly unknownAsset: FallbackMatch | undefined
}

export type PlannedPath =
  | { readonly kind: 'file'; readonly path: string; readonly file: ExportedFile }
  | { readonly kind: 'redirect'; readonly path: string; readonly status: number; readonly location: string }
  | { readonly kind: 'hidden'; readonly path: string; readonly page: ExportedFile }

export interface ExportedFile {
  readonly resource: Resource
  /** Relative to the root that hosts serve: the decoded path of its URL, without the slash at the beginning. */
  readonly place: string
  readonly mediaType: string
  /** What its 200 has, besides what hosts make of the file itself (length, validators) and of the coding. */
  readonly fields: readonly Field[]
  readonly codings: readonly ContentCoding[]
  /** Whether the time of its content is known, and may be sent. */
  readonly hasTime: boolean
}

export type Field = readonly [name: string, value: string]

export interface AssetClass {
  /** Percent-encoded, with a slash at its end. */
  readonly path: string
  readonly fields: readonly Field[]
  /** By extension, lower and upper case as they are. */
  readonly mediaTypes: ReadonlyMap<string, string>
  readonly files: ReadonlySet<ExportedFile>
  readonly hasTime: boolean
}

/** Fields that hosts make of the file that they send. */
const madeByHosts = new Set([
  'accept-ranges',
  'content-encoding',
  'content-length',
  'content-type',
  'etag',
  'last-modified',
])

/** Reads from a site's table what hosts that know files alone have to be told. */
export function planExport(site: Site): ExportPlan {
  const files = new Map<Resource, ExportedFile>()
  const fileOf = (resource: Resource): ExportedFile => {
    const known = files.get(resource) ?? describeFile(site, resource)
    files.set(resource, known)
    return known
  }
  const paths = Array.from(site.table, ([path, entry]): PlannedPath => {
    if (entry.kind === 'redirect') return { ...entry, path }
    return entry.kind === 'hidden'
      ? { kind: 'hidden', path, page: fileOf(entry.page) }
      : { kind: 'file', path, file: fileOf(entry) }
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

/** The path of a URL as the name of a file: decoded, without the slash at its beginning. */
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

/** The fields but `Vary: Accept-Encoding`, as one text. */
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
    // What looks like its variant may be a file of its own.
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

/** Hosts know one order for all files. */
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
