import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import {
  type FieldValues,
  isDocumentType,
  isPageType,
  type Manifest,
  type ManifestFile,
  policyDirectives,
  type PlainServingRules,
} from '@serve-dist/manifest'
import picomatch from 'picomatch'
import { encodePath } from '../protocol/request-path.ts'
import { collectOverrides, type FieldOverrides } from '../protocol/field-list.ts'
import type { HeadersFileRule } from './parse-headers-file.ts'
import { memoizeWeakly } from './memoize-weakly.ts'
import { pageUrls } from './page-urls.ts'
import { matchPath, parsePathPattern, type PathPattern } from './path-pattern.ts'
import { findPlaces, indexPatterns } from './pattern-index.ts'
import type { SitePolicy } from './resolve-policy.ts'
import type { FieldRule } from './site.ts'

/**
 * Recommended fields for every answer of a static application (OWASP Secure Headers Project; MDN,
 * "Practical security implementation guides"). `Content-Security-Policy` is missing because it depends on
 * the application. The server that ends TLS sends `Strict-Transport-Security`.
 */
const securityFields: FieldValues = {
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** Recommended fields for pages. */
const pageSecurityFields: FieldValues = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'X-Frame-Options': 'SAMEORIGIN',
}

/**
 * Fields that let pages of every origin use a file. The pages may read it (Fetch §3.2.5), time it (Resource
 * Timing §4.5) and, if they are cross-origin-isolated, embed it (Fetch §3.7).
 */
const crossOriginFields: FieldValues = {
  'Access-Control-Allow-Origin': '*',
  'Timing-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/** Collects all rules that give fields to files, the weakest first. */
export function collectFieldRules(
  headersFile: readonly HeadersFileRule[],
  sources: readonly PlainServingRules[],
  policy?: SitePolicy,
): readonly FieldRule[] {
  const isSecured = sources.findLast(({ securityHeaders }) => securityHeaders !== undefined)?.securityHeaders
  const security: FieldRule[] = [
    { on: 'files', fields: securityFields },
    { on: 'pages', fields: pageSecurityFields },
  ]
  return [
    ...(policy === undefined ? [] : [forDocuments(policy)]),
    ...(isSecured === true ? security : []),
    ...sources.flatMap(({ cors = [] }) => cors.map((glob) => forGlob(glob, crossOriginFields))),
    ...headersFile.map(({ pattern, fields }): FieldRule => ({
      on: 'path',
      pattern: parsePathPattern(pattern),
      fields,
    })),
    ...sources.flatMap(({ cacheControl = {}, headers = {} }) => [
      ...Object.entries(cacheControl).map(([glob, value]) => forGlob(glob, { 'Cache-Control': value })),
      ...Object.entries(headers).map(([glob, fields]) => forGlob(glob, fields)),
    ]),
  ]
}

function forDocuments({ field, from, rules, valueFor }: SitePolicy): FieldRule {
  const byEnvironment = policyDirectives.filter((name) =>
    rules.some((rule) => rule[name]?.some((source) => typeof source !== 'string')),
  )
  return { on: 'documents', from, byEnvironment, fields: { [field]: valueFor() } }
}

function forGlob(glob: string, fields: FieldValues): FieldRule {
  return { on: 'glob', glob, fields }
}

/**
 * Returns the fields that replace or extend the default fields of a file.
 *
 * @param urlPaths - every path of the file, decoded, with the base.
 */
export function overridesFor(
  rules: readonly FieldRule[],
  { path, mediaType }: Pick<ManifestFile, 'path' | 'mediaType'>,
  urlPaths: readonly string[],
): FieldOverrides {
  if (rules.length === 0) return collectOverrides([])
  const encoded = sortedOut(rules).forPaths.length === 0 ? [] : urlPaths.map(encodePath)
  const matches = (rule: FieldRule): boolean => {
    switch (rule.on) {
      case 'files':
        return true
      case 'pages':
        return isPageType(mediaType)
      case 'documents':
        return isDocumentType(mediaType)
      case 'glob':
        return globMatcherOf(rule.glob)(path)
      default:
        return encoded.some((urlPath) => matchPath(rule.pattern, urlPath) !== undefined)
    }
  }
  return collectOverrides(
    rulesThatMayMatch(rules, encoded)
      .filter(matches)
      .map(({ fields }) => fields),
  )
}

/** Returns the rules that may match one of the paths, in order. `_headers` may have thousands of rules. */
function rulesThatMayMatch(rules: readonly FieldRule[], urlPaths: readonly string[]): readonly FieldRule[] {
  const { others, forPaths, index } = sortedOut(rules)
  if (forPaths.length === 0) return rules
  const found = new Set(urlPaths.flatMap((urlPath) => findPlaces(index, urlPath)))
  return [...others, ...Array.from(found, (place) => forPaths[place] ?? -1)]
    .toSorted((one, other) => one - other)
    .flatMap((place) => rules[place] ?? [])
}

/** Separates path rules, which get an index, from all others. Both are lists of positions in `rules`. */
const sortedOut = memoizeWeakly((rules: readonly FieldRule[]) => {
  const others: number[] = []
  const forPaths: number[] = []
  const patterns: PathPattern[] = []
  for (const [place, rule] of rules.entries()) {
    if (rule.on === 'path') {
      forPaths.push(place)
      patterns.push(rule.pattern)
    } else others.push(place)
  }
  return { others, forPaths, index: indexPatterns(patterns) }
})

/** Returns a warning if rules of `_headers` match no path of the build. */
export function unusedHeadersFileRules(
  rules: readonly HeadersFileRule[],
  { base, files }: Pick<Manifest, 'base' | 'files'>,
): readonly string[] {
  if (rules.length === 0) return []
  const patterns = rules.map(({ pattern }) => parsePathPattern(pattern))
  const index = indexPatterns(patterns)
  const used = new Set<number>()
  for (const urlPath of files.flatMap(({ path }) => pageUrls(path).map((name) => encodePath(base + name)))) {
    for (const place of findPlaces(index, urlPath)) {
      if (!used.has(place) && matchPath(patterns[place] ?? [], urlPath) !== undefined) used.add(place)
    }
  }
  const unused = rules.filter((_rule, place) => !used.has(place)).map(({ pattern }) => pattern)
  if (unused.length === 0) return []
  const [one, verb] = unused.length === 1 ? ['rule', 'matches'] : ['rules', 'match']
  return [`the ${one} of _headers for ${joinFirstNames(unused)} ${verb} no file of the build`]
}

type GlobMatcher = (path: string) => boolean

/** Compiled globs. Compiling takes longer than matching, hence the cache for all files. */
const globMatchers = new Map<string, GlobMatcher>()

/** Globs match paths relative to the build's folder. A slash at the beginning, or after `!`, is ignored. */
export function globMatcherOf(glob: string): GlobMatcher {
  const known = globMatchers.get(glob)
  if (known !== undefined) return known
  const matcher = picomatch(glob.replace(/^(!?)\/(?=.)/s, '$1'), { dot: true })
  globMatchers.set(glob, matcher)
  return matcher
}
