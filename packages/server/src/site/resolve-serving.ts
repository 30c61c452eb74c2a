import type {
  Preference,
  SourceMaps,
  Fallback,
  ManifestFile,
  RedirectRule,
  ServingRules,
} from '@serve-dist/manifest'
import { collectFieldRules, globMatcherOf } from './field-rules.ts'
import type { HeadersFileRule } from './parse-headers-file.ts'
import type { SitePolicy } from './resolve-policy.ts'
import type { FieldRule } from './site.ts'

/** Files of a build that configure its server and are not served. */
export const servingFiles: ReadonlySet<string> = new Set(['_headers', '_redirects'])

/** Everything that says how a build is to be served, the weakest first. */
export interface ServingSources {
  /** The absolute path of the build's folder. */
  readonly directory: string
  /** From `_headers` in the build. */
  readonly headersFile: readonly HeadersFileRule[]
  /** From `_redirects` in the build. */
  readonly redirectsFile: readonly RedirectRule[]
  /** From the plugin's options, then from `serve-dist.config`, then from the command line. */
  readonly rules: readonly ServingRules[]
  /** Absent where nobody wants one. */
  readonly policy?: SitePolicy | undefined
}

/** One answer to each question of how to serve. */
export interface ResolvedServing {
  readonly directory: string
  readonly prefer: Preference
  readonly fallback: Fallback | undefined
  readonly earlyHints: boolean
  readonly redirects: readonly RedirectRule[]
  readonly sourceMaps: SourceMaps
  /** Whether caches that several people share may keep deltas. */
  readonly sharedCache: boolean
  /** Globs of files that never change under their names. */
  readonly immutable: readonly string[]
  readonly fieldRules: readonly FieldRule[]
  readonly policy: SitePolicy | undefined
}

/** Whether source maps are served; the last of the sources that says so counts. */
export function sourceMapsOf(rules: readonly ServingRules[]): SourceMaps {
  return rules.findLast(({ sourceMaps }) => sourceMaps !== undefined)?.sourceMaps ?? 'serve'
}

/** Joins the sources: of one-valued rules the strongest counts, lists and globs add up. */
export function resolveServing({
  directory,
  headersFile,
  redirectsFile,
  rules,
  policy,
}: ServingSources): ResolvedServing {
  const last = <Name extends keyof ServingRules>(name: Name): ServingRules[Name] | undefined =>
    rules.findLast((source) => source[name] !== undefined)?.[name]
  return {
    directory,
    prefer: last('prefer') ?? 'order',
    fallback: last('fallback'),
    earlyHints: last('earlyHints') ?? false,
    // Within a source the first rule that matches counts; so does the stronger source.
    redirects: [...rules.toReversed().flatMap((source) => source.redirects ?? []), ...redirectsFile],
    sourceMaps: sourceMapsOf(rules),
    sharedCache: last('sharedCache') ?? false,
    immutable: rules.flatMap((source) => source.immutable ?? []),
    fieldRules: collectFieldRules(headersFile, rules, policy),
    policy,
  }
}

/** Whether what stands under a file's name never changes: the build or a rule says so. */
export function isImmutable(
  { immutable }: Pick<ResolvedServing, 'immutable'>,
  { path, cache }: Pick<ManifestFile, 'path' | 'cache'>,
): boolean {
  return cache === 'immutable' || immutable.some((glob) => globMatcherOf(glob)(path))
}
