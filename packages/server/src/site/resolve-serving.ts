import type {
  Preference,
  SourceMaps,
  Fallback,
  ManifestFile,
  RedirectRule,
  PlainServingRules,
  ServingRules,
} from '@serve-dist/manifest'
import { collectFieldRules, globMatcherOf } from './field-rules.ts'
import type { HeadersFileRule } from './parse-headers-file.ts'
import { encodeWrittenPath } from './path-pattern.ts'
import type { SitePolicy } from './resolve-policy.ts'
import type { BasicAuth, FieldRule } from './site.ts'

/** All sources of serving options, the weakest first. */
export interface ServingSources {
  /** The absolute path of the build's folder. */
  readonly directory: string
  /** From `_headers` in the build. */
  readonly headersFile: readonly HeadersFileRule[]
  /** From `_redirects` in the build. */
  readonly redirectsFile: readonly RedirectRule[]
  /** From the plugin's options, then from `serve-dist.config`, then from the command line. */
  readonly rules: readonly PlainServingRules[]
  /** Absent if no source sets a policy, or if the strongest source sets `csp: false`. */
  readonly policy?: SitePolicy | undefined
  /** Absent if the site needs no credentials. */
  readonly basicAuth?: BasicAuth | undefined
}

/** The effective serving options. */
export interface ResolvedServing {
  readonly directory: string
  readonly prefer: Preference
  readonly fallback: Fallback | undefined
  readonly earlyHints: boolean
  readonly redirects: readonly RedirectRule[]
  readonly sourceMaps: SourceMaps
  /** Whether shared caches may keep deltas. */
  readonly sharedCache: boolean
  /** Whether the hashed files are listed for `serve-dist carry`. */
  readonly keptList: boolean
  /** Globs of immutable files. */
  readonly immutable: readonly string[]
  /** The path of health checks, percent-encoded. */
  readonly health: string | undefined
  readonly basicAuth: BasicAuth | undefined
  readonly fieldRules: readonly FieldRule[]
  readonly policy: SitePolicy | undefined
}

/** Returns whether source maps are served. The last source that sets the option wins. */
export function sourceMapsOf(rules: readonly ServingRules[]): SourceMaps {
  return rules.findLast(({ sourceMaps }) => sourceMaps !== undefined)?.sourceMaps ?? 'serve'
}

/** Merges the sources. The strongest source decides single values; lists and globs accumulate. */
export function resolveServing({
  directory,
  headersFile,
  redirectsFile,
  rules,
  policy,
  basicAuth,
}: ServingSources): ResolvedServing {
  const last = <Name extends keyof ServingRules>(name: Name): ServingRules[Name] | undefined =>
    rules.findLast((source) => source[name] !== undefined)?.[name]
  const health = last('health')
  return {
    directory,
    prefer: last('prefer') ?? 'order',
    fallback: last('fallback'),
    earlyHints: last('earlyHints') ?? false,
    // The first matching rule wins, hence the strongest source comes first.
    redirects: maintenanceFirst([
      ...rules.toReversed().flatMap((source) => source.redirects ?? []),
      ...redirectsFile,
    ]),
    sourceMaps: sourceMapsOf(rules),
    sharedCache: last('sharedCache') ?? false,
    keptList: last('keptList') ?? true,
    immutable: rules.flatMap((source) => source.immutable ?? []),
    health: health && encodeWrittenPath(health),
    basicAuth,
    fieldRules: collectFieldRules(headersFile, rules, policy),
    policy,
  }
}

/** Maintenance precedes every other rule. */
function maintenanceFirst(rules: readonly RedirectRule[]): readonly RedirectRule[] {
  return [...rules.filter(isMaintenance), ...rules.filter((rule) => !isMaintenance(rule))]
}

function isMaintenance({ status, force }: RedirectRule): boolean {
  return status === 503 && force === true
}

/** Returns whether the content of a file never changes: the build or a rule says it is immutable. */
export function isImmutable(
  { immutable }: Pick<ResolvedServing, 'immutable'>,
  { path, cache }: Pick<ManifestFile, 'path' | 'cache'>,
): boolean {
  return cache === 'immutable' || immutable.some((glob) => globMatcherOf(glob)(path))
}
