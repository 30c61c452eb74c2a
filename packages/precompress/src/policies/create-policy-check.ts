import {
  beside,
  countingPolicyRules,
  createContentSecurityPolicy,
  environmentDefaults,
  environmentOrigins,
  longPolicyBytes,
  mostPolicyBytes,
  OperatorError,
  type PagePolicy,
  policyFieldName,
  type BuildPolicy,
  type RuntimeEnvironment,
  type ServingRules,
} from '@serve-dist/manifest'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import type { PageElement } from '../links/elements-of-page.ts'
import { type Blocked, findBlocked } from './find-blocked.ts'

/** Examines pages one by one, then reports blocked content and policies that are too long. */
export interface PolicyCheck {
  readonly look: (path: string, elements: readonly PageElement[], policy: PagePolicy | undefined) => void
  /** @throws OperatorError that names pages whose policy is too long for proxies. */
  readonly finish: (warn: (message: string) => void) => void
}

export interface CheckedBuild {
  readonly serving: ServingRules | undefined
  readonly environment: RuntimeEnvironment | undefined
  readonly needs: BuildPolicy
  /** Text of `_headers`. */
  readonly headersFile: string
}

/** Creates the policy check. Returns `undefined` if the build has no rule `csp`. */
export function createPolicyCheck({
  serving,
  environment,
  needs,
  headersFile,
}: CheckedBuild): PolicyCheck | undefined {
  const rules = countingPolicyRules([serving?.csp])
  if (rules === undefined) return undefined
  const defaults = environment && environmentDefaults(environment)
  const { origins } = environmentOrigins(rules, environment, defaults)
  const policyFor = createContentSecurityPolicy({
    rules,
    build: needs,
    originOf: (name) => origins.get(name),
  })
  const field = policyFieldName(rules)

  const found = new Map<string, Found>()
  const withOwn: string[] = []
  const long: LongPolicy[] = []
  return {
    look: (path, elements, page) => {
      const policy = policyFor(page)
      const bytes = field.length + ': '.length + policy.length
      const hashes = Object.values(page ?? {}).flat().length
      if (bytes > longPolicyBytes) long.push({ path, bytes, hashes })
      for (const blocked of findBlocked(elements, policy)) {
        const what = `${blocked.what} (${blocked.directive})`
        const before = found.get(what) ?? { blocked, places: new Set() }
        found.set(what, before)
        before.places.add(`${path}:${blocked.line}`)
      }
      for (const { line = 0 } of elements.filter(isOwnPolicy)) withOwn.push(`${path}:${line}`)
    },
    finish: (warn) => {
      if (new RegExp(`^[ \\t]+${field}[ \\t]*:`, 'im').test(headersFile))
        warn(`_headers, ${field}: ${beside} Otherwise the server does not start.`)
      const refused = long.filter(({ bytes }) => bytes > mostPolicyBytes)
      if (refused.length > 0)
        throw new OperatorError(
          'SD_PASS_FAILED',
          `${describeLong(refused, field)}. Few proxies accept more than ${mostPolicyBytes} bytes. ${cure}.`,
        )
      if (long.length > 0)
        warn(
          `${describeLong(long, field)}. Proxies such as nginx accept 4 KB of fields by default and otherwise answer 502. ${cure}, or raise the proxy's limit (nginx: proxy_buffer_size 16k).`,
        )
      const all = [...found].toSorted(([, one], [, other]) => other.places.size - one.places.size)
      for (const [what, { blocked, places }] of all.slice(0, mostLines))
        warn(`csp blocks ${what} in ${joinFirstNames([...places])}. ${cureOf(blocked)}`)
      const rest = all.slice(mostLines).map(([what]) => what)
      if (rest.length > 0)
        warn(`csp also blocks ${joinFirstNames(rest)}. Fix the problems above, then build again.`)
      if (withOwn.length > 0)
        warn(
          `${joinFirstNames(withOwn)}: a <meta http-equiv="Content-Security-Policy"> applies in addition to csp, so browsers allow only what both allow. Remove the element.`,
        )
    },
  }
}

interface Found {
  readonly blocked: Blocked
  readonly places: Set<string>
}

interface LongPolicy {
  readonly path: string
  readonly bytes: number
  readonly hashes: number
}

/** Maximum number of blocked items with a line each. */
const mostLines = 20

/** Describes all long policies in one line. */
function describeLong(pages: readonly LongPolicy[], field: string): string {
  const sorted = pages.toSorted((a, b) => b.bytes - a.bytes)
  const [{ hashes, bytes } = { hashes: 0, bytes: 0 }] = sorted
  const [their, most] = pages.length === 1 ? ['its', ''] : ['their', 'up to ']
  const names = joinFirstNames(sorted.map(({ path }) => path))
  return `${names}: ${their} ${field} has ${most}${hashes} hashes and ${bytes} bytes`
}

const cure = 'Move inline scripts and styles into files, and style attributes into classes'

function cureOf({ what, directive, source }: Blocked): string {
  if (source !== undefined) return `Allow it with csp: { '${directive}': ["${source}"] }, or remove it.`
  return what === 'javascript:'
    ? 'No hash allows such a URL. Use a button and a listener.'
    : 'Add the listener in a script, or set csp: { attributes: true }.'
}

function isOwnPolicy({ tag, kind, attributes }: PageElement): boolean {
  return (
    tag === 'meta' && kind === 'html' && attributes['http-equiv']?.toLowerCase() === 'content-security-policy'
  )
}
