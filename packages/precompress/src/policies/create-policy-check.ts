import {
  countingPolicyRules,
  createContentSecurityPolicy,
  environmentDefaults,
  environmentOrigins,
  firstNames,
  OperatorError,
  type PagePolicy,
  policyFieldName,
  type BuildPolicy,
  type RuntimeEnvironment,
  type ServingRules,
} from '@serve-dist/manifest'
import type { PageElement } from '../links/elements-of-page.ts'
import { findBlocked } from './find-blocked.ts'

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
}

/** nginx takes 4 KB for a head by default: 70 hashes pass, 75 are a 502. */
const longBytes = 3 * 1024
/** No usual proxy takes as much. */
const mostBytes = 16 * 1024

/** The check of the pages of a build that is sent with policies; `undefined` where it is not. */
export function createPolicyCheck({ serving, environment, needs }: CheckedBuild): PolicyCheck | undefined {
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

  const placesOf = new Map<string, string[]>()
  const withOwn: string[] = []
  const long: { readonly path: string; readonly bytes: number; readonly hashes: number }[] = []
  return {
    look: (path, elements, page) => {
      const policy = policyFor(page)
      const bytes = field.length + ': '.length + policy.length
      const hashes = Object.values(page ?? {}).flat().length
      if (bytes > longBytes) long.push({ path, bytes, hashes })
      for (const { what, directive, line } of findBlocked(elements, policy)) {
        const key = `${what} (${directive})`
        placesOf.set(key, [...(placesOf.get(key) ?? []), `${path}:${line}`])
      }
      for (const { line = 0 } of elements.filter(isOwnPolicy)) withOwn.push(`${path}:${line}`)
    },
    finish: (warn) => {
      const refused = long.filter(({ bytes }) => bytes > mostBytes).toSorted((a, b) => b.bytes - a.bytes)
      if (refused.length > 0) {
        throw new OperatorError(
          'SD_PASS_FAILED',
          refused.map(
            ({ path, bytes, hashes }) =>
              `${path}: its ${field} has ${hashes} hashes and ${bytes} bytes, which hardly a proxy takes (most: ${mostBytes}); ${cure}`,
          ),
        )
      }
      for (const { path, bytes, hashes } of long)
        warn(
          `${path}: its ${field} has ${hashes} hashes and ${bytes} bytes; proxies such as nginx take 4 KB for all fields by default and answer 502 to more; ${cure}, or let the proxy take more (nginx: proxy_buffer_size 16k)`,
        )
      for (const [what, places] of placesOf)
        warn(`csp blocks ${what} in ${firstNames([...new Set(places)])}; ${cureOf(what)}`)
      if (withOwn.length > 0)
        warn(
          `${firstNames(withOwn)}: a <meta http-equiv="Content-Security-Policy"> counts beside the field of csp: a browser allows only what both allow; take it out`,
        )
    },
  }
}

const cure = 'move inline code into files (build.assetsInlineLimit says what Vite writes into pages)'

function cureOf(what: string): string {
  if (what.startsWith('on')) return 'add the listener in a script, or say csp: { attributes: true }'
  if (what.startsWith('javascript:')) return 'no hash allows such a URL: use a button and a listener'
  const [name = '', directive = ''] = what.replace(')', '').split(' (')
  const source = /^[a-z][a-z\d+.-]*:/i.test(name) ? name : "'self'"
  return `allow it with csp: { '${directive}': ["${source}"] }, or take it out`
}

function isOwnPolicy({ tag, kind, attributes }: PageElement): boolean {
  return (
    tag === 'meta' && kind === 'html' && attributes['http-equiv']?.toLowerCase() === 'content-security-policy'
  )
}
