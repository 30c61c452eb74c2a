import { type PolicyDirective, policyDirectives } from './policy-directives.ts'

/**
 * The inline code of a page, as hash sources without quotes (`sha256-…`, CSP Level 3 §2.3.1). Browsers hash the same
 * text. The lists are sorted, without duplicates.
 */
export interface PagePolicy {
  readonly scripts?: readonly string[]
  readonly styles?: readonly string[]
  /** The hashes of `style` attributes. */
  readonly styleAttributes?: readonly string[]
  /** The hashes of event handlers such as `onclick`. */
  readonly scriptAttributes?: readonly string[]
}

/** The sources that all pages of a build need, by directive, sorted. */
export type BuildPolicy = Readonly<Record<string, readonly string[]>>

/**
 * The policy rules of a user: sources by directive, and two switches. The sources are added to those of the build.
 * `null` removes a directive, and `'none'` replaces all sources.
 */
export interface PolicyRules extends PolicySources {
  /** Whether event handlers in pages, such as `onclick`, may run. @default false */
  readonly attributes?: boolean
  /** Whether browsers only report violations. @default false */
  readonly reportOnly?: boolean
}

type PolicySources = { readonly [Name in PolicyDirective]?: readonly PolicySource[] | null }

/** A literal source, or the name of an environment value that is a URL. The policy then contains the URL's origin. */
export type PolicySource = string | { readonly env: string }

/** The input of the policies of a build. */
export interface PolicyParts {
  /** The rules from several places, the weakest first. */
  readonly rules: readonly PolicyRules[]
  readonly build?: BuildPolicy | undefined
  /** Returns the origin of an environment value, or `undefined` if it is not set. */
  readonly originOf: (name: string) => string | undefined
}

/**
 * The length of a page's policy, in bytes, above which the operator gets a warning. nginx accepts 4 KB of headers by
 * default: a whole head of 4,062 bytes with 65 hashes passes, and one of 4,224 bytes with 68 hashes becomes a 502.
 */
export const longPolicyBytes = 3072

/**
 * The maximum length of a page's policy in bytes. Common proxies accept less, and the Node.js client accepts 16 KiB of
 * headers.
 */
export const mostPolicyBytes = 16_384

const baseDirectives: BuildPolicy = {
  'default-src': ["'self'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'font-src': ["'self'", 'data:'],
  'form-action': ["'self'"],
  'object-src': ["'none'"],
  'base-uri': ["'self'"],
  'frame-ancestors': ["'self'"],
}

/** Directives that browsers ignore with a console message in a report-only policy (CSP Level 3 §6.3.2). */
export const enforcedOnly: readonly PolicyDirective[] = ['sandbox', 'upgrade-insecure-requests']

/**
 * Returns the effective rules, the weakest first. Returns `undefined` if the strongest value is `false`, or if there is
 * no value.
 */
export function countingPolicyRules(
  said: readonly (boolean | PolicyRules | undefined)[],
): readonly PolicyRules[] | undefined {
  const strongest = said.findLast((rules) => rules !== undefined)
  if (strongest === undefined || strongest === false) return undefined
  return said.filter((rules) => typeof rules === 'object')
}

/** Returns whether browsers only report violations. The strongest rule decides. */
export function isReportOnly(rules: readonly PolicyRules[]): boolean {
  return rules.findLast(({ reportOnly }) => reportOnly !== undefined)?.reportOnly === true
}

/** Returns the name of the field with the policy. */
export function policyFieldName(rules: readonly PolicyRules[]): string {
  return isReportOnly(rules) ? 'Content-Security-Policy-Report-Only' : 'Content-Security-Policy'
}

/**
 * Creates a function that returns the policy of a page. Without a page, it returns the policy of workers, SVG and XML:
 * it contains no hashes.
 */
export function createContentSecurityPolicy(given: PolicyParts): (page?: PagePolicy) => string {
  const { rules } = given
  const directives = joinDirectives(given)
  if (isReportOnly(rules)) for (const name of enforcedOnly) directives.delete(name)
  const hasAttributes = rules.findLast(({ attributes }) => attributes !== undefined)?.attributes === true
  const places = hashPlaces(directives, hasAttributes)
  const parts = policyDirectives.map((name): DirectivePart => {
    const sources = directives.get(name)
    return {
      name,
      sources: sources ?? [],
      text: sources === undefined ? '' : [name, ...sources].join(' '),
      places: places.filter(({ directive }) => directive === name),
    }
  })
  // A build can have 10,000 pages.
  return (page = {}) => {
    let policy = ''
    for (const part of parts) {
      const text = part.places.length === 0 ? part.text : withHashes(part, page)
      if (text !== '') policy += policy === '' ? text : `; ${text}`
    }
    return policy
  }
}

interface DirectivePart {
  readonly name: string
  readonly sources: readonly string[]
  /** The text for a page without hashes, or `''` if the directive is not sent. */
  readonly text: string
  readonly places: readonly HashPlace[]
}

function withHashes({ name, sources, text, places }: DirectivePart, page: PagePolicy): string {
  const hashes = places.flatMap(({ kind, opening }) => {
    const found = page[kind] ?? []
    return found.length === 0 ? [] : [...opening, ...found.map((hash) => `'${hash}'`)]
  })
  if (hashes.length === 0) return text
  return [name, ...new Set([...sources, ...hashes])].join(' ')
}

/** Merges the defaults, the sources of the build and the rules, without duplicate sources. */
function joinDirectives({ rules, build = {}, originOf }: PolicyParts): Map<string, readonly string[]> {
  const directives = new Map(Object.entries(baseDirectives))
  const join = (name: string, sources: readonly string[]): void => {
    const before = (directives.get(name) ?? []).filter((source) => source !== none)
    const joined = [...new Set([...before, ...sources])]
    // 'unsafe-inline' would have no effect next to a hash of other rules.
    const effective = joined.includes(unsafeInline) ? joined.filter((source) => !isHash(source)) : joined
    directives.set(name, effective.includes(none) ? [none] : effective)
  }
  for (const [name, sources] of Object.entries(build)) join(name, sources)
  for (const rule of rules) {
    for (const name of policyDirectives) {
      const sources = rule[name]
      if (sources === undefined) continue
      if (sources === null) {
        directives.delete(name)
        continue
      }
      const known = sources
        .map((source) => (typeof source === 'string' ? source : originOf(source.env)))
        .filter((source) => source !== undefined)
      // A directive for elements replaces the general one, which contains the sources of the build.
      const general = name.endsWith('-elem') && !directives.has(name) ? build[name.slice(0, -5)] : undefined
      join(name, [...(known.includes(none) ? [] : (general ?? [])), ...known])
      // A list without sources means 'none' (CSP Level 3 §6.7.2.3).
      if (sources.length > 0 && directives.get(name)?.length === 0) directives.set(name, [none])
    }
  }
  // A directive for attributes with only the build's sources would override 'unsafe-inline' in the general directive.
  for (const name of ['script-src-attr', 'style-src-attr'] as const) {
    const isAsked = rules.some((rule) => rule[name] !== undefined)
    if (!isAsked && directives.get(name.slice(0, -5))?.includes(unsafeInline)) directives.delete(name)
  }
  return directives
}

const none = "'none'"
const unsafeInline = "'unsafe-inline'"

function isHash(source: string): boolean {
  return source.startsWith("'sha")
}

interface HashPlace {
  readonly kind: keyof PagePolicy
  readonly directive: string
  /** The sources before the hashes. */
  readonly opening: readonly string[]
}

/**
 * Selects the directive for each kind of hash: the one that browsers use (CSP Level 3 §6.8.3). Hashes are omitted next
 * to `'unsafe-inline'`, which they would disable (§6.7.3.2), and next to `'none'`.
 */
function hashPlaces(
  directives: ReadonlyMap<string, readonly string[]>,
  hasAttributes: boolean,
): readonly HashPlace[] {
  const place = (kind: keyof PagePolicy, names: readonly string[]): HashPlace[] => {
    const [first = ''] = names
    const asked = names.find((name) => directives.has(name)) ?? first
    const sources = directives.get(asked) ?? [none]
    if (sources.includes(none) || sources.includes(unsafeInline)) return []
    if (!kind.endsWith('Attributes')) return [{ kind, directive: asked, opening: [] }]
    // The new directive replaces the general one, so it takes over the hashes for attributes.
    const taken = sources.includes("'unsafe-hashes'") ? sources.filter(isHash) : []
    return [{ kind, directive: first, opening: ["'unsafe-hashes'", ...taken] }]
  }
  return [
    ...place('scripts', ['script-src-elem', 'script-src', 'default-src']),
    ...place('styles', ['style-src-elem', 'style-src', 'default-src']),
    ...place('styleAttributes', ['style-src-attr', 'style-src', 'default-src']),
    ...(hasAttributes ? place('scriptAttributes', ['script-src-attr', 'script-src', 'default-src']) : []),
  ]
}
