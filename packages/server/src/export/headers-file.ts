import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import type { HostConfiguration } from './host-configuration.ts'
import type { PageHost } from './page-host.ts'
import type { ExportPlan, Field } from './plan-export.ts'

/** Paths, and the fields that they get. */
interface HeaderRule {
  readonly path: string
  readonly lines: readonly string[]
}

/**
 * `_headers` of a site. Values of a field that several rules set are joined, so no two rules that may meet name the same
 * one: what every file has stands in a rule for all, hashed files have one rule, and the others one each.
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
    // What most would miss is the policy of a page.
    ...own.toSorted((one, other) => rank(one) - rank(other)),
  ]
  const writable = all.filter((rule) => rule.lines.length > 0 && isWritable(rule, host, left))
  const { headerRules } = host.limits
  const beyond = writable.slice(headerRules)
  if (beyond.length > 0) {
    left.push(
      `_headers: ${writable.length} rules are needed and ${headerRules} allowed; without fields of their own are ${joinFirstNames(beyond.map(({ path }) => path))}`,
    )
  }
  const text = writable
    .slice(0, headerRules)
    .map(({ path, lines }) => `${path}\n${lines.map((line) => `  ${line}\n`).join('')}\n`)
  return { text: text.join(''), left }
}

/** Whether files below the assets that are no hashed ones can be told apart from these. */
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

/** Fields that all pages have alike, and that no other file has otherwise: they do no harm on these. */
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

/** What the host does not do by itself: it says what varies, and its own `Cache-Control` means `no-cache`. */
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
      `_headers, ${path}: a line of ${long.length} characters is too long for ${limits.headerLine}, so the rule is left out`,
    )
    return false
  }
  // Both read these as patterns, and know no escape.
  if (!/^\/(?:[^*:]*\*?)$/.test(path)) {
    left.push(`_headers, ${path}: a path with * or : cannot be named, so the rule is left out`)
    return false
  }
  return true
}
