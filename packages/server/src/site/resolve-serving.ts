import type { FieldValues, ManifestFile, RedirectRule, ServingRules } from '@serve-dist/manifest'
import picomatch from 'picomatch'
import { crossOriginFields } from './cross-origin-fields.ts'
import { collectOverrides, type FieldOverrides } from '../protocol/field-list.ts'
import type { HeadersFileRule } from './parse-headers-file.ts'
import { pageSecurityFields, securityFields } from './security-fields.ts'
import { compileUrlPattern } from './url-pattern.ts'

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
}

/** One answer to each question of how to serve. */
export interface ResolvedServing {
  readonly directory: string
  readonly prefer: 'order' | 'smallest'
  readonly fallback: 'spa' | '404' | 'none' | undefined
  readonly earlyHints: boolean
  readonly redirects: readonly RedirectRule[]
  readonly sourceMaps: 'serve' | 'deny'
  readonly isImmutable: (file: Pick<ManifestFile, 'path' | 'cache'>) => boolean
  /**
   * The fields that replace or join the defaults of a file.
   *
   * @param urlPaths - every path that the file is answered under, decoded, with the base.
   */
  readonly overridesFor: (
    file: Pick<ManifestFile, 'path' | 'mediaType'>,
    urlPaths: readonly string[],
  ) => FieldOverrides
}

/** Joins the sources: of one-valued rules the strongest counts, lists and globs add up. */
export function resolveServing({
  directory,
  headersFile,
  redirectsFile,
  rules,
}: ServingSources): ResolvedServing {
  const last = <Name extends keyof ServingRules>(name: Name): ServingRules[Name] | undefined =>
    rules.findLast((source) => source[name] !== undefined)?.[name]
  const immutable = globMatcher(rules.flatMap((source) => source.immutable ?? []))
  const cors = globMatcher(rules.flatMap((source) => source.cors ?? []))
  const fileRules = headersFile.map(({ pattern, fields }) => ({ form: compileUrlPattern(pattern), fields }))
  const fieldRules = rules.flatMap((source) => [...cacheRules(source), ...headerRules(source)])
  return {
    directory,
    prefer: last('prefer') ?? 'order',
    fallback: last('fallback'),
    earlyHints: last('earlyHints') ?? false,
    // Within a source the first rule that matches counts; so does the stronger source.
    redirects: [...rules.toReversed().flatMap((source) => source.redirects ?? []), ...redirectsFile],
    sourceMaps: last('sourceMaps') ?? 'serve',
    isImmutable: ({ path, cache }) => cache === 'immutable' || immutable(path),
    overridesFor({ path, mediaType }, urlPaths) {
      const security = last('securityHeaders') === true ? [securityFields] : []
      const pageSecurity =
        security.length > 0 && mediaType.startsWith('text/html') ? [pageSecurityFields] : []
      const crossOrigin = cors(path) ? [crossOriginFields] : []
      const fromFile = fileRules
        .filter(({ form }) => urlPaths.some((urlPath) => form.test(urlPath)))
        .map(({ fields }) => fields)
      const fromRules = fieldRules.filter(({ matches }) => matches(path)).map(({ fields }) => fields)
      return collectOverrides([...security, ...pageSecurity, ...crossOrigin, ...fromFile, ...fromRules])
    },
  }
}

interface FieldRule {
  readonly matches: (path: string) => boolean
  readonly fields: FieldValues
}

function cacheRules({ cacheControl = {} }: ServingRules): FieldRule[] {
  return Object.entries(cacheControl).map(([glob, value]) => ({
    matches: globMatcher([glob]),
    fields: { 'Cache-Control': value },
  }))
}

function headerRules({ headers = {} }: ServingRules): FieldRule[] {
  return Object.entries(headers).map(([glob, fields]) => ({ matches: globMatcher([glob]), fields }))
}

/** Globs are about paths relative to the build's folder; a slash at their beginning is a habit of URLs. */
function globMatcher(globs: readonly string[]): (path: string) => boolean {
  if (globs.length === 0) return () => false
  return picomatch(
    globs.map((glob) => glob.replace(/^\/(?=.)/s, '')),
    { dot: true },
  )
}
