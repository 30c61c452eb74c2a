import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import type { HostConfiguration } from './host-configuration.ts'
import type { PageHost } from './page-host.ts'
import type { ExportPlan, Field } from './plan-export.ts'

interface HeaderRule {
  readonly path: string
  readonly lines: readonly string[]
}

/**
 * Writes the `_headers` of a site. Hosts join the values if several rules set the same header for a path. Therefore rules
 * that match the same path name different headers: common headers are in one rule for all paths, hashed files share a
 * rule, and each other file has its own rule.
 */
export function headersFile(plan: ExportPlan, host: PageHost): HostConfiguration {
  const left: string[] = []
  const common = commonFields(plan)
  const { assets } = plan
  const own = plan.paths.flatMap((planned): HeaderRule[] => {
    if (planned.kind !== 'file' || isByAnotherName(planned.path, host)) return []
    const { file, path } = planned
    if (assets?.files.has(file) === true && assetsAreOneRule(plan, host)) return []
    const isBelow = assets !== undefined && path.startsWith(assets.path) && assetsAreOneRule(plan, host)
    const fields = ownFields(file.fields, common, !isBelow)
    const named = new Set(isBelow ? ownFields(assets.fields, common).map(([name]) => name) : [])
    const lines = [
      ...[...named].map((name) => `! ${name}`),
      ...fields.map(([name, value]) => `${name}: ${value}`),
    ]
    return lines.length === 0 ? [] : [{ path, lines }]
  })
  const all: HeaderRule[] = [
    { path: '/*', lines: common.map(([name, value]) => `${name}: ${value}`) },
    ...(assets !== undefined && assetsAreOneRule(plan, host)
      ? [
          {
            path: `${assets.path}*`,
            lines: ownFields(assets.fields, common).map(([name, value]) => `${name}: ${value}`),
          },
        ]
      : []),
    // The limit of the host may drop the last rules. Policies of pages come first, because they matter most.
    ...own.toSorted((one, other) => rank(one) - rank(other)),
  ]
  const writable = all.filter((rule) => rule.lines.length > 0 && isWritable(rule, host, left))
  const { headerRules } = host.limits
  const beyond = writable.slice(headerRules)
  if (beyond.length > 0) {
    left.push(
      `_headers: ${writable.length} rules are needed, but only ${headerRules} are allowed. These paths have no rule: ${joinFirstNames(beyond.map(({ path }) => path))}`,
    )
  }
  const text = writable
    .slice(0, headerRules)
    .map(({ path, lines }) => `${path}\n${lines.map((line) => `  ${line}\n`).join('')}\n`)
  return { text: text.join(''), left }
}

/** Whether one rule can cover the assets: all of them are hashed files, or the host can remove headers again. */
function assetsAreOneRule({ assets, paths }: ExportPlan, { detaches }: PageHost): boolean {
  if (assets === undefined) return false
  return (
    detaches ||
    paths.every(
      (each) => each.kind !== 'file' || !each.path.startsWith(assets.path) || assets.files.has(each.file),
    )
  )
}

function isByAnotherName(path: string, { dropsHtml }: PageHost): boolean {
  return dropsHtml && path.endsWith('.html')
}

/** Returns the headers that all pages share and that no other file has with another value. */
function commonFields({ files }: ExportPlan): readonly Field[] {
  const pages = files.filter(({ resource }) => resource.isPage)
  const [first, ...others] = pages.length === 0 ? files : pages
  return ownFields(first?.fields ?? [], []).filter(([name, value]) => {
    if (name.toLowerCase() === 'cache-control' || name.toLowerCase() === 'link') return false
    const isOfAll = others.every(({ fields }) =>
      fields.some(([other, its]) => other === name && its === value),
    )
    return (
      isOfAll && files.every(({ fields }) => fields.every(([other, its]) => other !== name || its === value))
    )
  })
}

/** Returns the headers that the host does not set itself. It sets `Vary`, and its `Cache-Control` means `no-cache`. */
function ownFields(fields: readonly Field[], common: readonly Field[], hasDefault = true): readonly Field[] {
  return fields.filter(
    ([name, value]) =>
      !(name === 'Vary' && value === 'Accept-Encoding') &&
      !(hasDefault && name === 'Cache-Control' && value === 'no-cache') &&
      !common.some(([other, its]) => other === name && its === value),
  )
}

function rank({ lines }: HeaderRule): number {
  const order = [/^content-security-policy/i, /^cache-control/i, /./]
  return order.findIndex((form) => lines.some((line) => form.test(line)))
}

function isWritable({ path, lines }: HeaderRule, { limits }: PageHost, left: string[]): boolean {
  const long = [path, ...lines].find((line) => line.length + 2 > limits.headerLine)
  if (long !== undefined) {
    left.push(
      `_headers, ${path}: the rule is omitted, because a line has ${long.length} characters and the limit is ${limits.headerLine}`,
    )
    return false
  }
  // Both hosts read these characters as patterns and support no escape.
  if (!/^\/(?:[^*:]*\*?)$/.test(path)) {
    left.push(`_headers, ${path}: the rule is omitted, because a path with * or : cannot be escaped`)
    return false
  }
  return true
}
