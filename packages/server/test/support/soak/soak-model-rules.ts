import type { RedirectRule, ServingRules } from '@serve-dist/manifest'

// What docs/configuration.md says of rules, written a second time, for the patterns and globs that the
// soak's sites have.

/** What a rule says of a path. */
export interface Ruling {
  readonly status: number
  /** With everything that the path filled in. */
  readonly to: string
  /** Whether the rule is about the folder of hashed assets: client routes lie there then. */
  readonly isAboutAssets: boolean
}

/** The first rule for an escaped path; only those by force, where the build answers the path itself. */
export function rulingFor(
  rules: ServingRules | undefined,
  path: string,
  isKnown: boolean,
): Ruling | undefined {
  for (const rule of rules?.redirects ?? []) {
    const groups = isKnown && rule.force !== true ? undefined : formOf(rule).exec(path)
    if (!groups) continue
    const to = rule.to.replaceAll(/:([a-z]+)/g, (whole, name: string, at: number) => {
      if (!(name in (groups.groups ?? {}))) return whole
      const value = groups.groups?.[name] ?? ''
      return rule.to.slice(0, at).includes('?') ? encodeURIComponent(decodeURIComponent(value)) : value
    })
    return { status: rule.status ?? 308, to, isAboutAssets: rule.from.startsWith('/assets/') }
  }
  return undefined
}

function formOf({ from }: RedirectRule): RegExp {
  const form = from
    .replaceAll('.', String.raw`\.`)
    .replaceAll(/:([a-z]+)/g, '(?<$1>[^/]+)')
    .replace(/\/\*$/, '(?:/(?<splat>.*))?')
  return new RegExp(`^${form}$`)
}

/** The fields of a file with what rules say of them, by lower-case name; `Vary` is extended. */
export function ruledFields(
  rules: ServingRules | undefined,
  file: string,
  fields: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const ruled: Record<string, string> = { ...fields }
  const sets = [
    ...Object.entries(rules?.cacheControl ?? {}).map(
      ([glob, value]) => [glob, { 'cache-control': value }] as const,
    ),
    ...Object.entries(rules?.headers ?? {}),
  ]
  for (const [glob, set] of sets) {
    if (!matches(glob, file)) continue
    for (const [name, value] of Object.entries(set)) {
      const key = name.toLowerCase()
      if (value === null) delete ruled[key]
      else ruled[key] = key === 'vary' && fields['vary'] !== undefined ? `${value}, ${fields['vary']}` : value
    }
  }
  return ruled
}

function matches(glob: string, file: string): boolean {
  if (glob === '**') return true
  if (glob.endsWith('/**')) return file.startsWith(glob.slice(0, -2))
  if (glob.startsWith('*.')) return file.endsWith(glob.slice(1)) && !file.includes('/')
  throw new TypeError(`the soak's model does not know the glob ${glob}`)
}
