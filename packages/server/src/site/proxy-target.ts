import {
  type FieldValues,
  isProxyRule,
  parseProxyAddress,
  type ProxyFields,
  type RedirectRule,
} from '@serve-dist/manifest'
import { splitTarget } from '../protocol/request-head.ts'
import { matchPath, type PathPattern } from './path-pattern.ts'
import type { ProxyPattern, ProxyTarget } from './site.ts'

const defaults = { timeout: 60_000, bodyLimit: 100_000_000 }

/** Returns the target of a rule; `undefined` if the rule does not proxy. */
export function proxyTargetOf(rule: RedirectRule): ProxyTarget | undefined {
  if (!isProxyRule(rule)) return undefined
  const { timeout, bodyLimit, host = 'keep', request = {}, answer = {} } = rule
  const written = writtenAddress(rule.to)
  // An unset variable only occurs in commands that inspect the build.
  const address = parseProxyAddress(written) ?? { origin: written }
  return {
    ...address,
    timeout: Number(timeout ?? defaults.timeout),
    bodyLimit: Number(bodyLimit ?? defaults.bodyLimit),
    host,
    request: writtenFields(request),
    answer: writtenFields(answer),
  }
}

/** Returns the text of a target. A variable is `$NAME`. */
export function writtenAddress(to: RedirectRule['to']): string {
  return typeof to === 'string' ? to : `$${to.env}${to.path ?? ''}`
}

function writtenFields(fields: ProxyFields): FieldValues {
  const entries = Object.entries(fields)
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? `$${value.env}` : value,
    ]),
  )
}

/**
 * Returns the request target for the target of a rule: the octets of the request, except for a replaced
 * prefix.
 *
 * @param path - the path that the rule matches, percent-encoded like the keys of the table.
 * @param sent - the target of the request in origin form.
 */
export function forwardedTarget(
  form: PathPattern,
  { path: template }: Pick<ProxyTarget, 'path'>,
  { path, sent }: { readonly path: string; readonly sent: string },
): string {
  const [prefix = '', star, end] = form
  if (template === undefined || template === prefix + (star === '*' ? ':splat' : '')) return sent
  const { path: raw = sent, query = '' } = splitTarget(sent) ?? {}
  if (star === '*' && end === '' && template.endsWith('/:splat')) {
    // Encoded slashes are not separators: the raw path has the same number of slashes as the decoded one.
    const rest = raw.split('/').slice(prefix.split('/').length - 1)
    const start = template.slice(0, -'/:splat'.length)
    return `${[start, ...rest].join('/') || '/'}${query}`
  }
  const variables = matchPath(form, path) ?? matchPath(form, `${path}/`)
  const filled = template.replaceAll(
    /:([A-Za-z]\w*)/g,
    (whole, name: string) => variables?.get(name === 'splat' ? '*' : name) ?? whole,
  )
  return (filled === path ? raw : filled) + query
}

/** A dot segment, with encoded slashes and backslashes as separators, and with parameters (`..;a`). */
const dotSegment = /(?:\/|%2F|%5C)\.\.?(?:;|\/|%2F|%5C|$)/

/**
 * Returns whether the target of a rule could leave its prefix.
 *
 * @param path - percent-encoded like the keys of the table.
 */
export function hasDotSegment(path: string): boolean {
  return dotSegment.test(path)
}

/** Returns the place on this host of a location below the address of a rule, or `undefined`. */
export function relocated(
  { form: [start = '', star], proxy: { origin, path = `${start}:splat` } }: ProxyPattern,
  location: string,
): string | undefined {
  const prefix = origin + path.replace(/:splat$/, '')
  if (star !== '*' || !path.endsWith(':splat') || !location.startsWith(prefix)) return undefined
  return start + location.slice(prefix.length)
}
