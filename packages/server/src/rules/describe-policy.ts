import {
  enforcedOnly,
  isPageType,
  isReportOnly,
  longPolicyBytes,
  mostPolicyBytes,
  OperatorError,
} from '@serve-dist/manifest'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { okAnswer } from '../site/representation-answers.ts'
import type { SitePolicy } from '../site/resolve-policy.ts'
import type { Resource, Site } from '../site/site.ts'

/** The bytes of a response head that nginx 1.22 accepts by default: one page of memory. */
const mostForProxies = 4096

/**
 * Returns a warning for each problem with the policy.
 *
 * @throws OperatorError for pages with a policy that is too long for most clients.
 */
export function describePolicy(site: Site, { field, rules }: SitePolicy): readonly string[] {
  const isFieldSet = (name: string): boolean =>
    site.fieldRules.some(({ fields }) => Object.keys(fields).some((key) => key.toLowerCase() === name))
  const says = (name: 'report-to' | 'report-uri' | (typeof enforcedOnly)[number]): boolean =>
    rules.some((rule) => rule[name] !== undefined && rule[name] !== null)
  const warnings = [...describeSizes(site, field)]
  const unsafe = ['default-src', 'script-src', 'script-src-elem'] as const
  const runsAll = unsafe.find((name) =>
    rules.some((rule) => rule[name]?.includes("'unsafe-inline'") === true),
  )
  if (runsAll !== undefined)
    warnings.push(
      `csp: 'unsafe-inline' in ${runsAll} lets injected scripts run. Remove it: the policy has the hashes of the build's inline scripts.`,
    )
  const byRule = [...site.files.values()].filter(
    ({ isPage, overrides }) =>
      !isPage && isPageType(overrides.get('content-type')?.value?.toLowerCase() ?? ''),
  )
  if (byRule.length > 0)
    warnings.push(
      `csp: a rule sends ${joinFirstNames(byRule.map(({ path }) => path))} as text/html, but the build did not read it as a page, so its hashes are unknown. Name it *.html.`,
    )
  if (says('report-to') && !isFieldSet('reporting-endpoints') && !isFieldSet('report-to'))
    warnings.push(
      "csp: report-to names an endpoint that no header defines. Add headers: { '**/*.html': { 'Reporting-Endpoints': 'name=\"https://…\"' } }",
    )
  if (!isReportOnly(rules)) return warnings
  const idle = enforcedOnly.filter(says)
  if (idle.length > 0)
    warnings.push(`csp: ${idle.join(' and ')} omitted, because browsers ignore it in report-only policies`)
  return warnings
}

interface MeasuredPage {
  readonly path: string
  readonly policy: number
  readonly head: number
}

function describeSizes({ files }: Site, field: string): readonly string[] {
  const large = [...files.values()]
    .flatMap((page) => measure(page, field))
    .toSorted((a, b) => b.head - a.head)
  const [largest] = large
  if (largest === undefined) return []
  const refused = large.filter(({ policy }) => policy > mostPolicyBytes)
  if (refused.length > 0) {
    const their = refused.length === 1 ? 'its policy has' : 'their policies have up to'
    const most = Math.max(...refused.map(({ policy }) => policy))
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `${joinFirstNames(refused.map(({ path }) => path))}: ${their} ${formatBytes(most)}, above the ${formatBytes(mostPolicyBytes)} that clients accept. Fix: ${cure}.`,
    )
  }
  const names = joinFirstNames(large.map(({ path }) => path))
  return [
    `csp: the response head of ${names} has up to ${formatBytes(largest.head)}, including ${formatBytes(largest.policy)} for the policy. Proxies accept 4 KiB by default, and nginx answers 502 for more. Raise this limit (proxy_buffer_size 16k), or ${cure}`,
  ]
}

const cure = 'move inline scripts and styles into files, so that they need no hashes'

function measure(page: Resource, field: string): readonly MeasuredPage[] {
  const policy = page.overrides.get(field.toLowerCase())?.value?.length ?? 0
  // For most pages the estimate is enough, and their heads are not built at the start.
  if (policy + page.links.join(', ').length < mostForProxies / 2) return []
  const [first = page.identity] = page.representations
  const head = okAnswer(first, page).fields.reduce((bytes, text) => bytes + text.length + 2, headOfNode)
  return policy > longPolicyBytes || head > mostForProxies ? [{ path: page.path, policy, head }] : []
}

/** The bytes that Node adds: the status line, `Date`, `Connection`, `Keep-Alive`, and the empty line after the head. */
const headOfNode = 17 + 37 + 24 + 23 + 2
