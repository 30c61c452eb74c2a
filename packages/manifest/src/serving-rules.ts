import type { ByteSize } from './byte-size.ts'
import type { PolicyRules } from './content-security-policy.ts'

/**
 * The serving rules of a build. They come from the plugin's options through the manifest, or from the operator's
 * `serve-dist.config`. Globs match paths relative to the build's folder.
 */
export interface ServingRules {
  /** The choice between representations that a client accepts equally: `order` (zstd, br, gzip) or `smallest`. */
  readonly prefer?: Preference
  /** The response to a navigation to an unknown path. */
  readonly fallback?: Fallback
  /** Globs of files with a content hash in the name that the bundler did not report. */
  readonly immutable?: readonly string[]
  /** `Cache-Control` by glob. The last matching glob wins. */
  readonly cacheControl?: Readonly<Record<string, string | EnvironmentText>>
  /** Fields by glob and name. `null` removes a default. The last matching glob wins. */
  readonly headers?: Readonly<Record<string, ProxyFields>>
  /** The redirects. The first matching one wins. */
  readonly redirects?: readonly RedirectRule[]
  /** Whether to send the recommended security headers of a static application. */
  readonly securityHeaders?: boolean
  /** Whether to send each page with its own `Content-Security-Policy`, and its rules. */
  readonly csp?: boolean | PolicyRules
  /** Whether to send `103 Early Hints` over HTTP/1.1, although some intermediaries do not support it. */
  readonly earlyHints?: boolean
  /** Globs of files that pages of all other origins may use. */
  readonly cors?: readonly string[]
  /** Whether source maps are served. Otherwise the response is 404. */
  readonly sourceMaps?: SourceMaps
  /**
   * Whether shared caches may store deltas (RFC 9842). Enable it only if each cache in front of the server respects
   * `Vary`. Otherwise browsers can get undecodable responses.
   */
  readonly sharedCache?: boolean
  /** Whether the server lists its hashed files for `serve-dist carry`. @default true */
  readonly keptList?: boolean
  /** The path at which `serve` answers health checks, such as `/healthz`. */
  readonly health?: string
  /** The users who may read the site. `null` removes the rule of an earlier place. Only `serve` and the command apply it. */
  readonly basicAuth?: BasicAuthRule | null
}

/** Basic authentication (RFC 7617) for all paths of a site. */
export interface BasicAuthRule {
  /** The environment variable with lines `name:password`, or lines that `htpasswd -B` wrote. */
  readonly env: string
  /** Globs of paths that need no credentials, such as `/.well-known/**`. */
  readonly except?: readonly string[]
}

/** Serving rules without environment variables in the values of fields. */
export interface PlainServingRules extends ServingRules {
  readonly cacheControl?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, FieldValues>>
}

/** Fields with their values. `null` removes a default. */
export type FieldValues = Readonly<Record<string, string | null>>

/**
 * A redirect of paths that the build does not have. With status 200, 404 or 503, it is a rewrite. With status 200 and an
 * address, the server forwards the request to this address.
 */
export interface RedirectRule extends ProxyOptions {
  /** The path to match. `:name` matches a segment or a part of it. `*` as the last segment matches the rest. */
  readonly from: string
  /** Parameters that the query must have, each with its value, or with a `:name` for any value. */
  readonly query?: Readonly<Record<string, string>>
  /**
   * A path of this host or an `http(s)` URL; for a proxy also `unix:/path/of/socket:/path`. `:name` and `:splat` are
   * replaced by the matches of `from` and `query`. `{ env }` reads it from an environment variable.
   */
  readonly to: string | EnvironmentAddress
  /** @default 308 */
  readonly status?: RedirectStatus
  /** Whether the rule also applies to existing files. @default false */
  readonly force?: boolean
}

/** Options of a rule that proxies. */
export interface ProxyOptions {
  /**
   * Milliseconds until the head of the target's answer, and of silence in a body, or a text such as `'5m'`.
   * @default 60_000
   */
  readonly timeout?: Duration
  /** The maximum size of a request's body. @default '100mb' */
  readonly bodyLimit?: ByteSize
  /** Whether the target gets the `Host` of the request or the host of its address. @default 'keep' */
  readonly host?: ProxyHost
  /** The address for `vite dev`, such as `http://localhost:3000`. @default the address of `to` */
  readonly development?: string
  /** Fields of the request for the target. `null` removes a field. */
  readonly request?: ProxyFields
  /** Fields of the target's answer for the client. `null` removes a field. */
  readonly answer?: ProxyFields
}

/** The value of an environment variable. */
export interface EnvironmentText {
  readonly env: string
}

/** An address from an environment variable, and a path to append. */
export interface EnvironmentAddress extends EnvironmentText {
  readonly path?: string
}

/** Fields with their values, also from environment variables. */
export type ProxyFields = Readonly<Record<string, string | null | EnvironmentText>>

export const proxyHosts: readonly ['keep', 'target'] = ['keep', 'target']
export type ProxyHost = (typeof proxyHosts)[number]

/** Milliseconds, or a text with a unit: `500`, `'30s'`, `'5m'`. */
type Duration = number | string

/** The status of a redirect. With 200, 404 and 503, the server sends a file of the build. */
export type RedirectStatus = (typeof redirectStatuses)[number]

export const redirectStatuses: readonly [200, 301, 302, 303, 307, 308, 404, 503] = [
  200, 301, 302, 303, 307, 308, 404, 503,
]

export const preferences: readonly ['order', 'smallest'] = ['order', 'smallest']
export type Preference = (typeof preferences)[number]

/**
 * The response to a navigation to an unknown path: the page of a single-page application (`spa`), the build's
 * `404.html` (`404`), or no fallback (`none`).
 */
export type Fallback = (typeof fallbacks)[number]
export const fallbacks: readonly ['spa', '404', 'none'] = ['spa', '404', 'none']

export type SourceMaps = (typeof sourceMapChoices)[number]
export const sourceMapChoices: readonly ['serve', 'deny'] = ['serve', 'deny']
