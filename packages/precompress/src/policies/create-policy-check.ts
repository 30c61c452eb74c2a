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

/** Looks at pages one by one, then says what their policies block and which are too long. */
export interface PolicyCheck {
  readonly look: (path: string, elements: readonly PageElement[], policy: PagePolicy | undefined) => void
  /** @throws OperatorError that names the pages whose policy no proxy takes. */
  readonly finish: (warn: (message: string) => void) => void
}

export interface CheckedBuild {
  readonly serving: ServingRules | undefined
  readonly environment: RuntimeEnvironment | undefined
  readonly needs: BuildPolicy
  /** The text of `_headers`. */
  readonly headersFile: string
}

/** The check of the pages of a build that is sent with policies; `undefined` where it is not. */
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
        warn(`_headers sets ${field}, and a server will not start with it, for ${beside}`)
      const refused = long.filter(({ bytes }) => bytes > mostPolicyBytes)
      if (refused.length > 0)
        throw new OperatorError(
          'SD_PASS_FAILED',
          `${describeLong(refused, field)}, which hardly a proxy takes (most: ${mostPolicyBytes}); ${cure}`,
        )
      if (long.length > 0)
        warn(
          `${describeLong(long, field)}; proxies such as nginx take 4 KB for all fields by default and answer 502 to more; ${cure}, or let the proxy take more (nginx: proxy_buffer_size 16k)`,
        )
      const all = [...found].toSorted(([, one], [, other]) => other.places.size - one.places.size)
      for (const [what, { blocked, places }] of all.slice(0, mostLines))
        warn(`csp blocks ${what} in ${joinFirstNames([...places])}; ${cureOf(blocked)}`)
      const rest = all.slice(mostLines).map(([what]) => what)
      if (rest.length > 0)
        warn(`csp blocks ${joinFirstNames(rest)} too; allow what you know above, and build again`)
      if (withOwn.length > 0)
        warn(
          `${joinFirstNames(withOwn)}: a <meta http-equiv="Content-Security-Policy"> counts beside the field of csp: a browser allows only what both allow; take it out`,
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

/** Things that are told of in a line each. */
const mostLines = 20

/** One line, though all pages of a build may be alike. */
function describeLong(pages: readonly LongPolicy[], field: string): string {
  const sorted = pages.toSorted((a, b) => b.bytes - a.bytes)
  const [{ hashes, bytes } = { hashes: 0, bytes: 0 }] = sorted
  const [their, most] = pages.length === 1 ? ['its', ''] : ['their', 'up to ']
  const names = joinFirstNames(sorted.map(({ path }) => path))
  return `${names}: ${their} ${field} has ${most}${hashes} hashes and ${bytes} bytes`
}

const cure = 'move inline scripts and styles into files, and style attributes into classes'

function cureOf({ what, directive, source }: Blocked): string {
  if (source !== undefined) return `allow it with csp: { '${directive}': ["${source}"] }, or take it out`
  return what === 'javascript:'
    ? 'no hash allows such a URL: use a button and a listener'
    : 'add the listener in a script, or say csp: { attributes: true }'
}

function isOwnPolicy({ tag, kind, attributes }: PageElement): boolean {
  return (
    tag === 'meta' && kind === 'html' && attributes['http-equiv']?.toLowerCase() === 'content-security-policy'
  )
}
