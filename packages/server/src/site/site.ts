import {
  OperatorError,
  type Fallback,
  type SourceMaps,
  type AppType,
  type DeltaCoding,
  type FieldValues,
  type ManifestFile,
  type ManifestVariant,
  type RedirectStatus,
  type Selection,
} from '@serve-dist/manifest'
import type { RepresentationCoding } from '../protocol/accept-encoding.ts'
import type { FieldOverrides } from '../protocol/field-list.ts'
import type { PathPattern } from './path-pattern.ts'

/**
 * A build, ready to answer from: plain data, made at boot and never changed after, so that every decision is a
 * function of it and of the request's fields, and a copy (`structuredClone`) answers alike. What is made of it later
 * is kept beside it: answers (`representation-answers.ts`), globs (`field-rules.ts`), open files (`kept-file.ts`).
 */
export interface Site {
  /** The absolute path of the build's folder; of a store, that of its manifest, below which there is nothing. */
  readonly directory: string
  /** The store that it comes from, as the operator named it; absent where it comes from a folder. */
  readonly store?: string
  readonly buildId: string
  /** The path under which the build is served; begins and ends with `/`, percent-encoded. */
  readonly base: string
  readonly appType: AppType
  /** The path of the directory of hashed assets with a slash at its end, percent-encoded; `undefined` when there is none. */
  readonly assetsPath: string | undefined
  /** Every path that is known, those of kept files too, percent-encoded as `encodePath` writes it. */
  readonly table: ReadonlyMap<string, Entry>
  /** Every file of the build by its path in the folder, also where a rule takes its place in the table. */
  readonly files: ReadonlyMap<string, Resource>
  /** What unknown paths may be redirected to, or answered with; the first that matches counts. */
  readonly redirects: readonly RedirectPattern[]
  /** The page of a single-page application, where it has no {@link singlePage}. */
  readonly index: Resource | undefined
  /** `200.html`: the page of a single-page application by its name. */
  readonly singlePage: Resource | undefined
  /** The build's own page for what it does not have. */
  readonly notFound: Resource | undefined
  /** What a navigation to an unknown path gets, where somebody said so. */
  readonly fallback: Fallback | undefined
  /** Whether early hints are sent over HTTP/1.1 too. */
  readonly earlyHints: boolean
  /** Whether source maps are answered; where they are denied, the table has none. */
  readonly sourceMaps: SourceMaps
  /** The globs that chose the files, for those that appear after boot; absent where all belong to the build. */
  readonly selection?: Selection
  /** What fields files get, for those that appear after boot; the last rule that names a field counts. */
  readonly fieldRules: readonly FieldRule[]
  /** What it was made from besides the build; absent where that takes nothing. */
  readonly environment?: SiteEnvironment
  readonly summary: SiteSummary
}

/** What tells the sites of one folder from each other: what their answers are made of. */
export interface ServedBuild {
  readonly buildId: string
  /** The digest of the module of its environment; absent where it takes nothing. */
  readonly environment?: string
}

export function servedBuild({ buildId, environment }: Pick<Site, 'buildId' | 'environment'>): ServedBuild {
  return { buildId, ...(environment !== undefined && { environment: environment.sha256 }) }
}

/** Equal for what answers alike. */
export function servedId({ buildId, environment = '' }: ServedBuild): string {
  return `${buildId} ${environment}`
}

/** The module that holds what a build takes from the environment of this process. */
export interface SiteEnvironment {
  /** Relative to the build's folder. */
  readonly path: string
  /** The environment variables that it is made from, set or not. */
  readonly names: readonly string[]
  /** Of the module's bytes. */
  readonly sha256: string
}

/** What the listening line tells of a site. */
export interface SiteSummary {
  readonly files: number
  /** Those of them that are HTML documents. */
  readonly pages: number
  /** Whether `404.html` is the only one, and nobody says that it answers with another status. */
  readonly isNotFoundOnly: boolean
  readonly variants: number
  /** Bytes of bodies that are held in memory. */
  readonly bytesInMemory: number
  /** Files in the folder that the manifest does not list, though it leaves them out by no glob. */
  readonly unlistedFiles: number
  /** Earlier builds of which files are answered. */
  readonly keptBuilds: number
  /** Those files. */
  readonly keptFiles: number
}

/** What is told of a site beside its build. */
export type SiteCounts = Pick<SiteSummary, 'unlistedFiles' | 'keptBuilds' | 'keptFiles'>

export function siteCounts({ summary: { unlistedFiles, keptBuilds, keptFiles } }: Site): SiteCounts {
  return { unlistedFiles, keptBuilds, keptFiles }
}

/** What a known path is answered with. */
export type Entry = Resource | Redirect | HiddenPath

/** A path that is answered with a file in one of its representations (RFC 9110 §3.2). */
export interface Resource {
  readonly kind: 'resource'
  /** Relative to the build's folder, as in the manifest. */
  readonly path: string
  /** Of the earlier build that it is kept of; `undefined` for the site's own. */
  readonly buildId: string | undefined
  readonly mediaType: string
  /** Whether it is an HTML document. */
  readonly isPage: boolean
  /** In the server's order of preference, identity among them. */
  readonly representations: readonly PlainRepresentation[]
  readonly identity: PlainRepresentation
  /** Milliseconds since the epoch, whole seconds; `undefined` when the build's times are fixed. */
  readonly lastModified: number | undefined
  /** `Last-Modified` as it is sent (RFC 9110 §8.8.2). */
  readonly lastModifiedField: string | undefined
  /** The fields of a request that change the answer, if any do: then every answer has this `Vary`. */
  readonly vary: string | undefined
  /** Its `Use-As-Dictionary`, where browsers may keep it for later builds (RFC 9842 §2.1). */
  readonly useAsDictionary: string | undefined
  /** Representations for clients that have a file of an earlier build. */
  readonly deltas: Deltas | undefined
  readonly cacheControl: string
  /** The fields that rules give it. */
  readonly overrides: FieldOverrides
  /** Members of the `Link` field of its 200. */
  readonly links: readonly string[]
  /** Links of the 103 before its 200. */
  readonly earlyHints: readonly string[]
}

/** A path that is answered with another place. */
export interface Redirect {
  readonly kind: 'redirect'
  readonly status: number
  /** Percent-encoded; begins with one `/`, or names another host where a rule says so. */
  readonly location: string
}

/** A path that a rule hides by force: nothing is there, whatever the build has. */
interface HiddenPath {
  readonly kind: 'hidden'
  /** The page of its 404. */
  readonly page: Resource
}

/** A redirect rule, ready for matching. */
export interface RedirectPattern {
  /** The paths that it is about. */
  readonly form: PathPattern
  /** What the rule makes of them; `undefined` for other hosts, and where `:splat` is not all of the end. */
  readonly image: PathPattern | undefined
  /** As the rule has it. */
  readonly from: string
  readonly to: string
  readonly status: RedirectStatus
  readonly force: boolean
  /** The file that statuses 200 and 404 answer with. */
  readonly target: Resource | undefined
}

/**
 * Fields for all files, for pages, for what browsers may run as a document, for the files of a glob, or for those that
 * are answered under some paths.
 */
export type FieldRule = { readonly fields: FieldValues } & (
  | { readonly on: 'files' | 'pages' }
  | PolicyRule
  | { readonly on: 'glob'; readonly glob: string }
  | { readonly on: 'path'; readonly pattern: PathPattern }
)

/** The policy of documents that have no hashes. */
interface PolicyRule {
  readonly on: 'documents'
  /** Who wanted one, for people. */
  readonly from: readonly string[]
  /** Directives that have an origin of the environment. */
  readonly byEnvironment: readonly string[]
}

/** The bytes of a resource in one coding. */
export interface Representation {
  readonly coding: RepresentationCoding | DeltaCoding
  readonly bytes: StoredBytes
  /** A strong entity tag with its quotes, from the SHA-256 of these very bytes. */
  readonly entityTag: string
}

/** One that needs nothing which the client has. */
export interface PlainRepresentation extends Representation {
  readonly coding: RepresentationCoding
}

/** Deltas of a file, all in memory. */
export interface Deltas {
  /** By the `Available-Dictionary` that asks for them (RFC 9842 §2.2), the smallest first. */
  readonly byDictionary: ReadonlyMap<string, readonly Representation[]>
  /** Whether caches that several people share may keep them. */
  readonly inSharedCaches: boolean
}

/** Bytes as boot found them on the disk. */
export type StoredBytes = HeldBytes | StreamedBytes

/** Bytes in memory: what becomes of their file is of no consequence. */
interface HeldBytes {
  /** In bytes. */
  readonly size: number
  readonly body: Uint8Array<ArrayBuffer>
}

/** Bytes that are read from their file for each answer. */
export interface StreamedBytes {
  /** In bytes. */
  readonly size: number
  readonly body: undefined
  /** An absolute path. */
  readonly file: string
  /** What the file was when it was read, as `fingerprintOf` has it. */
  readonly fingerprint: string
  /** Its time of change by then, as `changeTimeOf` has it; where either is another one, the bytes are compared. */
  readonly changeTime: string
  /** The digest that its bytes must have, in hexadecimal digits; of what no manifest describes nobody knows it. */
  readonly sha256: string | undefined
}

/** Everything that is sent but the body's bytes. */
export interface Answer {
  readonly status: number
  /** Names and values by turns, as `ServerResponse.writeHead` takes them. */
  readonly fields: readonly string[]
  /** Where the body's bytes come from. */
  readonly content: AnswerContent
  /** The links of a 103 before this answer (RFC 8297). */
  readonly earlyHints?: readonly string[]
  /** Bytes by which a coding makes the body smaller; absent without one. */
  readonly savedBytes?: number
}

/** A body: none, bytes in memory, or those of a file from `first` to before `end`. */
export type AnswerContent =
  | { readonly kind: 'none' }
  | { readonly kind: 'memory'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'file'; readonly stored: StreamedBytes; readonly first: number; readonly end: number }

/** Where a host looks for the site at each request: another build is swapped in by one assignment. */
export interface SiteHolder {
  readonly current: Site
  /** The store that the builds come from, if they do. */
  readonly store?: StoreView | undefined
  /**
   * Looks whether there is a newer build than the current one, and may put it in its place; called before a hashed file
   * that nobody has is a 404 (`hosts/decide-later.ts`), by all who ask for one: a look is shared and short
   * (`files/share-look.ts`). It never rejects. Absent where no look is of use.
   */
  lookAgain?(): Promise<void>
}

/** Who has something made of each site that is served. */
export interface SiteFollower {
  /** Makes ready for a site that may be served next. It never rejects. */
  prepare(site: Site): Promise<void>
  /** Called in the turn in which a site takes its place, before it does. */
  swap(site: Site): void
}

/** What operators see of a store of builds. */
export interface StoreView {
  /** As they named it. */
  readonly place: string
  readonly state: StoreState
  readonly figures: StoreFigures
}

/** Whether a store answers; if not, since when (ISO 8601), and why. */
export type StoreState =
  | { readonly reachable: true }
  | { readonly reachable: false; readonly since: string; readonly problem: string }

/** What this process has asked of a store, and what it has of it. */
export interface StoreFigures {
  /** Looks at what is current. */
  readonly looks: number
  readonly fetchedBlobs: number
  readonly fetchedBytes: number
  /** Bytes of blobs in the cache on this machine. */
  readonly cacheBytes: number
}

/** What a host is made from: one build for good, or a holder of whichever is the newest. */
export type SiteSource = Site | SiteHolder

/**
 * A holder, also of a site that is never swapped.
 *
 * @throws OperatorError for anything else, such as the promise of a site.
 */
export function toSiteHolder(source: SiteSource): SiteHolder {
  const given: unknown = source
  if (typeof given === 'object' && given !== null && ('current' in given || 'table' in given)) {
    return 'current' in source ? source : { current: source }
  }
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `a handler needs a loaded site, such as createHandler(await loadSite('dist')); found ${String(given)}`,
  )
}

/** What a manifest says of one file on the disk: one object each, so that it can stand for the file. */
export type ManifestEntry = ManifestFile | ManifestVariant
