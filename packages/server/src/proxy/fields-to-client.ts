import { relocated } from '../site/proxy-target.ts'
import type { ProxyPattern } from '../site/site.ts'
import { connectionFields, namesIn } from './fields-to-target.ts'

/** `Date` is ours. */
const dropped: ReadonlySet<string> = new Set([
  ...connectionFields,
  'date',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
])

/** Returns whether a field belongs to the connection of the target, by its lower-case name. */
export function isConnectionField(name: string): boolean {
  return dropped.has(name)
}

/** Returns the fields of a target's answer for the client, as alternating names and values. */
export function fieldsToClient(raw: readonly Buffer[], rule: ProxyPattern, status: number): string[] {
  const changes = Object.entries(rule.proxy.answer)
  const removed = new Set(changes.map(([name]) => name.toLowerCase()))
  // RFC 9110 §8.6.
  if (status === 204 || status === 101) removed.add('content-length')
  const fields: string[] = []
  let named: ReadonlySet<string> | undefined
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = [raw[index]?.toString('latin1'), raw[index + 1]?.toString('latin1')]
    const key = name.toLowerCase()
    if (key === 'connection') named = namesIn(value)
    if (dropped.has(key) || removed.has(key) || key.startsWith('x-accel-')) continue
    fields.push(name, key === 'location' ? (relocated(rule, value) ?? value) : value)
  }
  for (const [name, value] of changes) if (value !== null) fields.push(name, value)
  return named === undefined ? fields : withoutNamed(fields, named)
}

function withoutNamed(fields: readonly string[], named: ReadonlySet<string>): string[] {
  return fields.filter((_text, index) => !named.has(fields[index - (index % 2)]?.toLowerCase() ?? ''))
}
