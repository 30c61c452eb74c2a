import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { matchRedirect } from '../site/redirects.ts'
import { encodePath } from '../protocol/request-path.ts'
import type { RedirectPattern } from '../site/site.ts'
import type { HostConfiguration } from './host-configuration.ts'
import type { PageHost } from './page-host.ts'
import type { ExportPlan } from './plan-export.ts'

/** The 404 page for the assets folder, for builds without a 404 page. The application must not answer there. */
export const missingPage = '404.html'

interface Line {
  readonly from: string
  readonly text: string
  readonly isDynamic: boolean
}

/** Writes the `_redirects` of a site: redirects of single paths, the rules of the build, and the fallback. */
export function redirectsFile(plan: ExportPlan, host: PageHost): HostConfiguration {
  const left: string[] = []
  const { site, paths, unknown } = plan
  const { limits } = host
  const mark = host.alwaysRedirects ? '' : '!'
  const forced = paths.flatMap((each): Line[] => {
    if (each.kind !== 'redirect' || isUsual(each)) return []
    return [
      { from: each.path, text: `${each.path} ${each.location} ${each.status}${mark}`, isDynamic: false },
    ]
  })
  const named = new Set(forced.map(({ from }) => from))
  const rules = site.redirects.flatMap((rule): Line[] => {
    const line = lineOf(rule, plan, { host, left })
    return line === undefined || named.has(line.from) ? [] : [line]
  })
  const lines = [...forced, ...rules, ...(host.alwaysRedirects ? [] : fallbackLines(plan))]
  if (host.alwaysRedirects && unknown?.status === 200 && (site.base !== '/' || site.files.has('404.html'))) {
    left.push(
      `unknown paths do not get the application: this needs an index.html at the root and no 404.html`,
    )
  }
  const fit = lines.filter(({ text, from }) => {
    if (text.length <= limits.redirectLine) return true
    left.push(
      `_redirects, ${from}: the rule is omitted, because it has ${text.length} characters and the limit is ${limits.redirectLine}`,
    )
    return false
  })
  // Rules without variables must come first.
  const ordered = host.alwaysRedirects
    ? fit.toSorted((one, other) => Number(one.isDynamic) - Number(other.isDynamic))
    : fit
  const keep = (what: string, most: number, of: readonly Line[]): readonly Line[] => {
    const beyond = of.slice(most).map(({ from }) => from)
    if (beyond.length > 0) {
      left.push(
        `_redirects: ${of.length} ${what} rules are needed, but only ${most} are allowed. These are omitted: ${joinFirstNames(beyond)}`,
      )
    }
    return of.slice(0, most)
  }
  const kept = new Set([
    ...keep(
      'static',
      limits.staticRedirects,
      ordered.filter(({ isDynamic }) => !isDynamic),
    ),
    ...keep(
      'dynamic',
      limits.dynamicRedirects,
      ordered.filter(({ isDynamic }) => isDynamic),
    ),
  ])
  const written = ordered.filter((line) => kept.has(line))
  return { text: written.map(({ text }) => `${text}\n`).join(''), left }
}

/** Whether the redirect only adds or removes a slash, which hosts do themselves. */
function isUsual({ path, location }: { readonly path: string; readonly location: string }): boolean {
  return location === `${path}/` || path === `${location}/`
}

interface Limits {
  readonly host: PageHost
  readonly left: string[]
}

function lineOf(rule: RedirectPattern, plan: ExportPlan, { host, left }: Limits): Line | undefined {
  const { from, query, status, force, target, form, to } = rule
  const leaveOut = (why: string): undefined => {
    left.push(`_redirects, ${from}: the rule is omitted, because ${why}`)
  }
  if (query !== undefined) return leaveOut('it depends on the query')
  if (rule.proxy !== undefined) return leaveOut('the server proxies its paths')
  if (status === 404 && !host.has404Rules) return leaveOut('rules cannot answer 404')
  const known = plan.paths.find(
    ({ path, kind }) => kind !== 'redirect' && matchRedirect([rule], path) !== undefined,
  )
  if (host.alwaysRedirects && !force && known !== undefined) {
    return form.length === 1 ? undefined : leaveOut(`it would also apply to the existing path ${known.path}`)
  }
  const written = form
    .map((part, index) => (index % 2 === 0 ? part : part === '*' ? '*' : `:${part}`))
    .join('')
  const place = target === undefined ? to : placeFor(plan, target, host)
  const mark = force && !host.alwaysRedirects ? '!' : ''
  return { from, text: `${written} ${place} ${status}${mark}`, isDynamic: form.length > 1 }
}

/** Returns the path at which the host answers with the page and not with another redirect. */
function placeFor(
  { site }: ExportPlan,
  { path }: NonNullable<RedirectPattern['target']>,
  host: PageHost,
): string {
  const whole = site.base + encodePath(path)
  return host.dropsHtml ? whole.replace(/(?:(?<=\/)index)?\.html$/, '') : whole
}

function dynamicLine(from: string, to: string, status: number): Line {
  return { from, text: `${from} ${to} ${status}`, isDynamic: true }
}

function fallbackLines({ site, unknown }: ExportPlan): Line[] {
  const { base, assetsPath } = site
  if (unknown?.target === undefined) return []
  const page = base + encodePath(unknown.target.path)
  if (unknown.status === 404) return base === '/' ? [] : [dynamicLine(`${base}*`, page, 404)]
  return [
    ...(assetsPath === undefined ? [] : [dynamicLine(`${assetsPath}*`, assetsPath + missingPage, 404)]),
    dynamicLine(`${base}*`, page, 200),
  ]
}
