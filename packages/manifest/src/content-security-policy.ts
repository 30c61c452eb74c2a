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

/** The directives of CSP Level 3 (§6), with those of Trusted Types and Upgrade Insecure Requests. */
export const policyDirectives: readonly [
  'base-uri',
  'child-src',
  'connect-src',
  'default-src',
  'font-src',
  'form-action',
  'frame-ancestors',
  'frame-src',
  'img-src',
  'manifest-src',
  'media-src',
  'object-src',
  'report-to',
  'report-uri',
  'require-trusted-types-for',
  'sandbox',
  'script-src',
  'script-src-attr',
  'script-src-elem',
  'style-src',
  'style-src-attr',
  'style-src-elem',
  'trusted-types',
  'upgrade-insecure-requests',
  'worker-src',
] = [
  'base-uri',
  'child-src',
  'connect-src',
  'default-src',
  'font-src',
  'form-action',
  'frame-ancestors',
  'frame-src',
  'img-src',
  'manifest-src',
  'media-src',
  'object-src',
  'report-to',
  'report-uri',
  'require-trusted-types-for',
  'sandbox',
  'script-src',
  'script-src-attr',
  'script-src-elem',
  'style-src',
  'style-src-attr',
  'style-src-elem',
  'trusted-types',
  'upgrade-insecure-requests',
  'worker-src',
]

export type PolicyDirective = (typeof policyDirectives)[number]

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

/** What a policy is made of. */
export interface PolicyParts {
  readonly rules: PolicyRules
  readonly build?: BuildPolicy | undefined
  /** Absent: of workers, SVG and XML, which have no hashes. */
  readonly page?: PagePolicy | undefined
  /** The origin that a value of the environment has. */
  readonly originOf: (name: string) => string
}

/** The base that every policy begins from. */
const baseDirectives: Readonly<Record<string, readonly string[]>> = {
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

/** The value of the field: directives with their sources, each once. */
export function contentSecurityPolicy({ rules, build = {}, page = {}, originOf }: PolicyParts): string {
  const directives = new Map(Object.entries(baseDirectives))
  const add = (name: string, sources: readonly string[]): void => {
    const before = (directives.get(name) ?? []).filter((source) => source !== "'none'")
    directives.set(name, [...new Set([...before, ...sources])])
  }
  for (const [name, sources] of Object.entries(build)) add(name, sources)
  addHashes('script-src', page.scripts)
  addHashes('style-src', page.styles)
  addHashes('style-src-attr', page.styleAttributes)
  if (rules.attributes === true) addHashes('script-src-attr', page.scriptAttributes)
  for (const name of policyDirectives) {
    const sources = rules[name]
    if (sources === undefined) continue
    if (sources === null) directives.delete(name)
    else if (sources.includes("'none'")) directives.set(name, ["'none'"])
    else
      add(
        name,
        sources.map((source) => (typeof source === 'string' ? source : originOf(source.env))),
      )
  }
  return Array.from(directives, ([name, sources]) => [name, ...sources].join(' ')).join('; ')

  function addHashes(name: string, hashes: readonly string[] = []): void {
    if (hashes.length === 0) return
    const isOfAttributes = name.endsWith('-attr')
    add(name, [...(isOfAttributes ? ["'unsafe-hashes'"] : []), ...hashes.map((hash) => `'${hash}'`)])
  }
}

/** The field that carries a policy. */
export function policyFieldName({ reportOnly }: PolicyRules): string {
  return reportOnly === true ? 'Content-Security-Policy-Report-Only' : 'Content-Security-Policy'
}
