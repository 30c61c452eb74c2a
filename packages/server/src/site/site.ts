import type {
  Fallback,
  SourceMaps,
  AppType,
  DeltaCoding,
  FieldValues,
  ManifestFile,
  ManifestVariant,
  RedirectStatus,
  Selection,
} from '@serve-dist/manifest'
import type { RepresentationCoding } from '../protocol/accept-encoding.ts'
import type { FieldOverrides } from '../protocol/field-list.ts'
import type { PathPattern } from './path-pattern.ts'

/**
 * A build, ready to be served: plain data that is created at the start and never changes. Every decision is
 * a function of the site and the fields of a request, and a copy (`structuredClone`) gives the same
 * answers. Derived data is cached outside: answers (`representation-answers.ts`), globs (`field-rules.ts`),
 * open files (`kept-file.ts`).
 */
export interface Site {
  /**
   * The absolute path of the build's folder; for a store, the folder of the manifest, which has no build
   * files.
   */
  readonly directory: string
  /** The store of the build, as the operator named it; absent for a folder. */
  readonly store?: string
  readonly buildId: string
  /** The path of the build; begins and ends with `/`, percent-encoded. */
  readonly base: string
  readonly appType: AppType
  /**
   * The path of hashed assets with a slash at its end, percent-encoded; `undefined` without such a folder.
   */
  readonly assetsPath: string | undefined
  /** Every known path, including files of earlier builds, percent-encoded by `encodePath`. */
  readonly table: ReadonlyMap<string, Entry>
  /** Every file of the build by its path in the folder, even if a rule replaces it in the table. */
  readonly files: ReadonlyMap<string, Resource>
  /** Redirects and rewrites for unknown paths; the first match wins. */
  readonly redirects: readonly RedirectPattern[]
  /** `index.html`: the page of a single-page application without {@link singlePage}. */
  readonly index: Resource | undefined
  /** `200.html`: the page of a single-page application. */
  readonly singlePage: Resource | undefined
  /** `404.html`: the page for unknown paths. */
  readonly notFound: Resource | undefined
  /** The answer to a navigation to an unknown path; `undefined` if no option sets it. */
  readonly fallback: Fallback | undefined
  /** Whether early hints are sent over HTTP/1.1 as well. */
  readonly earlyHints: boolean
  /** The path of health checks, percent-encoded; `undefined` if no rule sets it. */
  readonly health: string | undefined
  /** The rule for basic authentication; `undefined` if the site needs no credentials. */
  readonly basicAuth: BasicAuth | undefined
  /** Whether source maps are served; otherwise the table omits them. */
  readonly sourceMaps: SourceMaps
  /** The globs that select files that appear after the start; absent if every file belongs to the build. */
  readonly selection?: Selection
  /** The fields of files that appear after the start; the last rule that names a field wins. */
  readonly fieldRules: readonly FieldRule[]
  /** The environment module of the build; absent if the build reads no environment variables. */
  readonly environment?: SiteEnvironment
  /** The builds of several folders; absent for one build. Each answers the paths below its base. */
  readonly parts?: readonly Site[]
  /** The digest of the serving rules and their users. It is secret. Absent without rules. */
  readonly rulesDigest?: string
  readonly summary: SiteSummary
}

/** Basic authentication for a site. The users are not part of the site. */
export interface BasicAuth {
  /** Globs of paths that need no credentials. */
  readonly except: readonly string[]
}

/** The identity of a served site. */
export interface ServedBuild {
  readonly buildId: string
  /** The digest of the environment module; absent without one. */
  readonly environment?: string
  /** The digest of the serving rules, only between our own processes; absent without rules. */
  readonly rulesDigest?: string
  /** Only between our own processes: the site has `basicAuth`. */
  readonly isProtected?: true
}

/** Returns the identity for comparisons between our own processes. */
export function comparedBuild(
  site: Pick<Site, 'basicAuth' | 'buildId' | 'environment' | 'rulesDigest'>,
): ServedBuild {
  const { rulesDigest, basicAuth } = site
  return {
    ...servedBuild(site),
    ...(rulesDigest !== undefined && { rulesDigest }),
    ...(basicAuth !== undefined && { isProtected: true }),
  }
}

export function servedBuild({ buildId, environment }: Pick<Site, 'buildId' | 'environment'>): ServedBuild {
  return { buildId, ...(environment !== undefined && { environment: environment.sha256 }) }
}

/** Returns a key that is equal for sites with equal answers. */
export function servedId({ buildId, environment = '', rulesDigest = '' }: ServedBuild): string {
  return `${buildId} ${environment} ${rulesDigest}`
}

/** The module with the environment variables that the build reads. */
export interface SiteEnvironment {
  /** Relative to the build's folder. */
  readonly path: string
  /** The environment variables of the module, set or not. */
  readonly names: readonly string[]
  /** The digest of the module's bytes. */
  readonly sha256: string
}

/** The figures of a site for the start message. */
export interface SiteSummary {
  readonly files: number
  /** The number of HTML documents. */
  readonly pages: number
  /** Whether `404.html` is the only page and no rule serves it with another status. */
  readonly isNotFoundOnly: boolean
  readonly variants: number
  /** Bytes of bodies in memory. */
  readonly bytesInMemory: number
  /** Files in the folder that neither the manifest nor its globs mention. */
  readonly unlistedFiles: number
  /** Earlier builds with served files. */
  readonly keptBuilds: number
  /** Served files of earlier builds. */
  readonly keptFiles: number
}

/** Counts that depend on more than the build itself. */
export type SiteCounts = Pick<SiteSummary, 'unlistedFiles' | 'keptBuilds' | 'keptFiles'>

export function siteCounts({ summary: { unlistedFiles, keptBuilds, keptFiles } }: Site): SiteCounts {
  return { unlistedFiles, keptBuilds, keptFiles }
}

/** The answer to a known path. */
export type Entry = Resource | Redirect | HiddenPath | ProxiedPath

/** A file with its representations (RFC 9110 §3.2). */
export interface Resource {
  readonly kind: 'resource'
  /** Relative to the build's folder, as in the manifest. */
  readonly path: string
  /** The id of the earlier build that the file belongs to; `undefined` for the current build. */
  readonly buildId: string | undefined
  readonly mediaType: string
  /** Whether it is an HTML document. */
  readonly isPage: boolean
  /** In the server's order of preference, including identity. */
  readonly representations: readonly PlainRepresentation[]
  readonly identity: PlainRepresentation
  /** Milliseconds since the epoch, in whole seconds; `undefined` if the build has fixed times. */
  readonly lastModified: number | undefined
  /** The value of `Last-Modified` (RFC 9110 §8.8.2). */
  readonly lastModifiedField: string | undefined
  /** The `Vary` of every answer: the request fields that change the answer. */
  readonly vary: string | undefined
  /** The value of `Use-As-Dictionary`, if browsers may use the file for later builds (RFC 9842 §2.1). */
  readonly useAsDictionary: string | undefined
  /** Representations for clients that have a file of an earlier build. */
  readonly deltas: Deltas | undefined
  readonly cacheControl: string
  /** The fields that rules set or remove. */
  readonly overrides: FieldOverrides
  /** Members of the `Link` field of a 200. */
  readonly links: readonly string[]
  /** Links of the 103 before a 200. */
  readonly earlyHints: readonly string[]
}

/** A path that redirects. */
export interface Redirect {
  readonly kind: 'redirect'
  readonly status: number
  /** Percent-encoded; begins with one `/`, or names another host if a rule does. */
  readonly location: string
}

/** A path that a forced rule hides, although the build may have a file for it. */
interface HiddenPath {
  readonly kind: 'hidden'
  readonly status: 404 | 503
  /** The page of the answer; `undefined` for a 503 without a page. */
  readonly page: Resource | undefined
}

/** A path that a forced rule forwards, although the build has a file or a page there. */
interface ProxiedPath {
  readonly kind: 'proxied'
  readonly rule: ProxyPattern
}

/** A rule that forwards requests. */
export interface ProxyPattern extends RedirectPattern {
  readonly proxy: ProxyTarget
}

/** The target of a rule that forwards requests, and its limits. */
export interface ProxyTarget {
  /** Such as `http://backend:3000`. */
  readonly origin: string
  /** The path of a unix socket; absent for TCP. */
  readonly socketPath?: string
  /** A path with the variables of the rule; absent if the path of the request stays. */
  readonly path?: string
  /** In milliseconds. */
  readonly timeout: number
  /** In bytes. */
  readonly bodyLimit: number
  readonly host: 'keep' | 'target'
  readonly request: FieldValues
  readonly answer: FieldValues
}

/** A compiled redirect rule. */
export interface RedirectPattern {
  /** The paths that the rule matches. */
  readonly form: PathPattern
  /** The parameters that the query must have; `undefined` if the query plays no part. */
  readonly query?: ReadonlyMap<string, string>
  /**
   * The paths that the rule redirects to; `undefined` for other hosts and if `:splat` is not the whole last
   * part.
   */
  readonly image: PathPattern | undefined
  /** In the syntax of the rule. */
  readonly from: string
  readonly to: string
  readonly status: RedirectStatus
  readonly force: boolean
  /** The file for statuses 200, 404 and 503. */
  readonly target: Resource | undefined
  /** The target of forwarded requests; absent for all other rules. */
  readonly proxy?: ProxyTarget
}

/**
 * Fields for all files, all pages, all documents that can run scripts, the files of a glob, or some paths.
 */
export type FieldRule = { readonly fields: FieldValues } & (
  | { readonly on: 'files' | 'pages' }
  | PolicyRule
  | { readonly on: 'glob'; readonly glob: string }
  | { readonly on: 'path'; readonly pattern: PathPattern }
)

/** The policy of documents without hashes. */
interface PolicyRule {
  readonly on: 'documents'
  /** The sources of the policy, for messages. */
  readonly from: readonly string[]
  /** Directives with an origin from the environment. */
  readonly byEnvironment: readonly string[]
}

/** The bytes of a resource in one coding. */
export interface Representation {
  readonly coding: RepresentationCoding | DeltaCoding
  readonly bytes: StoredBytes
  /** A strong entity tag with quotes, made from the SHA-256 of these bytes. */
  readonly entityTag: string
}

/** A representation that needs no dictionary. */
export interface PlainRepresentation extends Representation {
  readonly coding: RepresentationCoding
}

/** The deltas of a file, all in memory. */
export interface Deltas {
  /** By the `Available-Dictionary` of the request (RFC 9842 §2.2), the smallest first. */
  readonly byDictionary: ReadonlyMap<string, readonly Representation[]>
  /** Whether shared caches may keep them. */
  readonly inSharedCaches: boolean
}

/** The bytes that a file had on the disk at the start. */
export type StoredBytes = HeldBytes | StreamedBytes

/** Bytes in memory, independent of later changes of the file. */
interface HeldBytes {
  /** In bytes. */
  readonly size: number
  readonly body: Uint8Array<ArrayBuffer>
}

/** Bytes that are read from a file for each answer. */
export interface StreamedBytes {
  /** In bytes. */
  readonly size: number
  readonly body: undefined
  /** An absolute path. */
  readonly file: string
  /** The result of `fingerprintOf` when the file was read. */
  readonly fingerprint: string
  /**
   * The result of `changeTimeOf` when the file was read. If either differs later, the bytes are compared.
   */
  readonly changeTime: string
  /**
   * The expected digest of the bytes, in hexadecimal digits; `undefined` for files that are not in a
   * manifest.
   */
  readonly sha256: string | undefined
}

/** A response: its status, its fields, and its body in memory or in a file. */
export interface Answer {
  readonly status: number
  /** Alternating names and values, as for `ServerResponse.writeHead`. */
  readonly fields: readonly string[]
  /** The source of the body. */
  readonly content: AnswerContent
  /** The links of a 103 before this answer (RFC 8297). */
  readonly earlyHints?: readonly string[]
  /** The number of bytes that the coding saves; absent without a coding. */
  readonly savedBytes?: number
}

/**
 * A body: none, bytes in memory, the bytes of a file from `first` up to, but not including, `end`, or the
 * whole answer of another server.
 */
export type AnswerContent =
  | ProxiedContent
  | { readonly kind: 'none' }
  | { readonly kind: 'memory'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'file'; readonly stored: StreamedBytes; readonly first: number; readonly end: number }

/** The request goes to the target of a rule. Status and fields of this answer have no meaning. */
export interface ProxiedContent {
  readonly kind: 'proxied'
  readonly rule: ProxyPattern
  /** The request target for the target of the rule. */
  readonly target: string
}

/** A file or variant in the manifest. Objects are unique, hence they serve as keys. */
export type ManifestEntry = ManifestFile | ManifestVariant
