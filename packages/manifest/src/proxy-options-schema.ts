import { fieldProblem } from './field-grammar.ts'
import { byteSize } from './option-schemas.ts'
import { isProxyAddress, parseProxyAddress, proxyAddressForm } from './proxy-address.ts'
import * as s from './schema.ts'
import {
  type EnvironmentText,
  type ProxyFields,
  proxyHosts,
  type ProxyOptions,
  type RedirectRule,
} from './serving-rules.ts'

/** The name of an environment variable. */
export const environmentName: s.Schema<string> = s.text('the name of an environment variable', /^[^=\0]+$/)

/** The longest time limit in milliseconds that timers support. */
const longest = 2 ** 31 - 1
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

const duration: s.Schema<number> = s.converted(
  s.expecting<string | number>(
    'a duration such as 500ms, 30s or 5m',
    (value) => millisecondsOf(value) !== undefined,
  ),
  (value) => millisecondsOf(value) ?? 0,
)

function millisecondsOf(value: unknown): number | undefined {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?) ?(ms|s|m|h)$/i.exec(String(value)) ?? []
  const milliseconds = typeof value === 'number' ? value : Number(count) * (units[unit.toLowerCase()] ?? 1)
  return milliseconds > 0 && milliseconds <= longest ? milliseconds : undefined
}

/** Creates the schema of the options of a rule that proxies. */
export function proxyOptions(form: s.ObjectForm): s.Fields<ProxyOptions> {
  const variable = s.objectOf<EnvironmentText>({ env: environmentName }, form)
  const values = s.recordOf(s.objectOr(variable, s.orNull(s.text('a text, null, or an object with "env"'))))
  const fields: s.Schema<ProxyFields> = s.checked(values, (given, note) => {
    for (const [name, value] of Object.entries(given))
      note(proxyFieldProblem(name, typeof value === 'string' ? value : ''), name)
  })
  return {
    timeout: s.optional(duration),
    bodyLimit: s.optional(byteSize(undefined, Number.isFinite)),
    host: s.optional(s.oneOf(proxyHosts)),
    development: s.optional(
      s.text(proxyAddressForm, (text) => parseProxyAddress(text)?.path === undefined && isProxyAddress(text)),
    ),
    request: s.optional(fields),
    answer: s.optional(fields),
  }
}

/** Returns the problem of a field that a proxying rule sets, or `undefined`. */
export function proxyFieldProblem(name: string, value: string): string | undefined {
  if (/^host$/i.test(name)) return 'serve-dist sets the field Host itself. Use the option "host".'
  if (/^expect$/i.test(name)) return 'serve-dist answers the field Expect itself. Remove it.'
  // A target describes its own content.
  const isOfContent = /^(?:accept-ranges|content-encoding|content-range|etag|last-modified)$/i.test(name)
  return fieldProblem(isOfContent ? 'X' : name, value)
}

/** Returns whether a rule forwards requests. */
export function isProxyRule({ to, status }: Pick<RedirectRule, 'to' | 'status'>): boolean {
  return status === 200 && (typeof to !== 'string' || isProxyAddress(to))
}
