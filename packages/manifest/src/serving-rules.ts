import type { PolicyRules } from './content-security-policy.ts'

/**
 * How a build wants to be served beyond the defaults: written by the plugin's options into the manifest,
 * or by the operator into `serve-dist.config`. Globs match a file's path relative to the build's folder.
 */
export interface ServingRules {
  /** What decides between representations that a client wants equally: the order zstd, br, gzip, or the bytes. */
  readonly prefer?: Preference
  /** What a navigation to an unknown path gets: the page of an `spa`, the build's `404.html`, or nothing of ours. */
  readonly fallback?: Fallback
  /** Globs of files whose names carry a content hash though no bundler said so. */
  readonly immutable?: readonly string[]
  /** `Cache-Control` by glob; of several that match, the last counts. */
  readonly cacheControl?: Readonly<Record<string, string>>
  /** Fields by glob, then by name; `null` takes a default away. Of several that match, the last counts. */
  readonly headers?: Readonly<Record<string, FieldValues>>
  /** In order: the first that matches counts. */
  readonly redirects?: readonly RedirectRule[]
  /** Send today's recommended security fields for a static application. */
  readonly securityHeaders?: boolean
  /** Send each page with a `Content-Security-Policy` of its own, made from the build; `false`: none. */
  readonly csp?: boolean | PolicyRules
  /** Send `103 Early Hints` over HTTP/1.1 too, where some intermediaries do not understand it. */
  readonly earlyHints?: boolean
  /** Globs of files that pages of every other origin may use. */
  readonly cors?: readonly string[]
  /** Whether source maps of the build are answered, or are as if they were not there. */
  readonly sourceMaps?: SourceMaps
  /**
   * Let caches that several people share keep deltas (RFC 9842): only where each in front of the server obeys `Vary`, or
   * browsers get what they cannot decode.
   */
  readonly sharedCache?: boolean
}

/** Names of fields with their values; `null` takes a default away. */
export type FieldValues = Readonly<Record<string, string | null>>

/** One redirect (or, with status 200 or 404, one rewrite) of paths that the build does not have. */
export interface RedirectRule {
  /** A path: `:name` stands for one segment or a part of one, `*` as the last segment for all that follow. */
  readonly from: string
  /** A path of this host or an `http(s)` URL; `:name` and `:splat` stand for what `from` matched. */
  readonly to: string
  /** @default 308 */
  readonly status?: RedirectStatus
  /** Whether the rule also counts where the build has a file. @default false */
  readonly force?: boolean
}

/** 200 and 404 answer with a file of the build in the place of a redirect. */
export type RedirectStatus = (typeof redirectStatuses)[number]

export const redirectStatuses: readonly [200, 301, 302, 303, 307, 308, 404] = [
  200, 301, 302, 303, 307, 308, 404,
]

export const preferences: readonly ['order', 'smallest'] = ['order', 'smallest']
export type Preference = (typeof preferences)[number]

/**
 * What a navigation to an unknown path gets: the page of a single-page application (`spa`), the build's own `404.html`
 * (`404`), or nothing of ours (`none`).
 */
export type Fallback = (typeof fallbacks)[number]
export const fallbacks: readonly ['spa', '404', 'none'] = ['spa', '404', 'none']

export type SourceMaps = (typeof sourceMapChoices)[number]
export const sourceMapChoices: readonly ['serve', 'deny'] = ['serve', 'deny']
