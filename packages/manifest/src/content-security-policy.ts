import { type PolicyDirective, policyDirectives } from './policy-directives.ts'

/**
 * What stands in a page and would run or apply, as hash sources without their quotes (`sha256-…`, CSP Level 3 §2.3.1):
 * of the text as a browser hashes it, each once, sorted.
 */
export interface PagePolicy {
  readonly scripts?: readonly string[]
  readonly styles?: readonly string[]
  /** Of the values of `style` attributes. */
  readonly styleAttributes?: readonly string[]
  /** Of the values of event handlers such as `onclick`. */
  readonly scriptAttributes?: readonly string[]
}

/** What all pages of a build need besides: sources by directive, sorted. */
export type BuildPolicy = Readonly<Record<string, readonly string[]>>

/**
 * What somebody says of the policy: sources by the name of a directive, which join those of the build (`null` takes the
 * directive away, `'none'` counts alone), and two switches.
 */
export interface PolicyRules extends PolicySources {
  /** Whether event handlers in pages run, such as `onclick`. @default false */
  readonly attributes?: boolean
  /** Whether browsers only report what they would block. @default false */
  readonly reportOnly?: boolean
}

type PolicySources = { readonly [Name in PolicyDirective]?: readonly PolicySource[] | null }

/** A source as it is sent, or the name of a value of the environment that is a URL: its origin is sent. */
export type PolicySource = string | { readonly env: string }

/** What the policies of a build's pages are made of. */
export interface PolicyParts {
  /** Of several people, the weakest first. */
  readonly rules: readonly PolicyRules[]
  readonly build?: BuildPolicy | undefined
  /** The origin that a value of the environment has; nothing where it is not set. */
  readonly originOf: (name: string) => string | undefined
}

/**
 * Bytes of a page's policy above which an operator hears of it. nginx takes 4 KB for a head by default: with our other
 * fields a head of 4,062 bytes (65 hashes) passes, one of 4,224 (68) is a 502.
 */
export const longPolicyBytes = 3072

/** Bytes of a page's policy that are refused: no usual proxy takes as much, and Node's client no head above 16 KiB. */
export const mostPolicyBytes = 16_384

/** The base that every policy begins from. */
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

/** What browsers leave undone, with a line in the console, where a policy only reports (CSP Level 3 §6.3.2). */
export const enforcedOnly: readonly PolicyDirective[] = ['sandbox', 'upgrade-insecure-requests']

/** The rules that count, the weakest first; `undefined` where the strongest that says anything says no, or nobody does. */
export function countingPolicyRules(
  said: readonly (boolean | PolicyRules | undefined)[],
): readonly PolicyRules[] | undefined {
  const strongest = said.findLast((rules) => rules !== undefined)
  if (strongest === undefined || strongest === false) return undefined
  return said.filter((rules) => typeof rules === 'object')
}

/** Whether browsers only report; the strongest that says so counts. */
export function isReportOnly(rules: readonly PolicyRules[]): boolean {
  return rules.findLast(({ reportOnly }) => reportOnly !== undefined)?.reportOnly === true
}

/** The field that carries a policy. */
export function policyFieldName(rules: readonly PolicyRules[]): string {
  return isReportOnly(rules) ? 'Content-Security-Policy-Report-Only' : 'Content-Security-Policy'
}

/** What makes the field's value for a page; without one, for a worker, SVG or XML, which have no hashes. */
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
  // Once for each page of a build, of which there may be 10,000.
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
  /** As it is sent for a page without hashes; `''` where it is not. */
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

/** The base, what the build needs, then what each of the rules says: sources stand once. */
function joinDirectives({ rules, build = {}, originOf }: PolicyParts): Map<string, readonly string[]> {
  const directives = new Map(Object.entries(baseDirectives))
  const join = (name: string, sources: readonly string[]): void => {
    const before = (directives.get(name) ?? []).filter((source) => source !== none)
    const joined = [...new Set([...before, ...sources])]
    // Beside a hash of somebody else's rules it would have no effect.
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
      // A directive for elements takes over from the one that the build's needs joined.
      const general = name.endsWith('-elem') && !directives.has(name) ? build[name.slice(0, -5)] : undefined
      join(name, [...(known.includes(none) ? [] : (general ?? [])), ...known])
      // Without a source, a list of sources means none (CSP Level 3 §6.7.2.3).
      if (sources.length > 0 && directives.get(name)?.length === 0) directives.set(name, [none])
    }
  }
  // What the build alone says of attributes would take back what somebody allows in the directive for all.
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
  /** What stands before the hashes. */
  readonly opening: readonly string[]
}

/**
 * Where each kind of hash has an effect: in the directive that browsers ask (CSP Level 3 §6.8.3), but not beside
 * `'unsafe-inline'`, which a hash would take the effect from (§6.7.3.2), nor where somebody allows nothing.
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
    // A new directive takes over from the general one, with the hashes that somebody gave to that for attributes.
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
