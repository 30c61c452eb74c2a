import { validateHeaderName, validateHeaderValue } from 'node:http'

/**
 * Checks the fields of a head: an object, names and values in turn, or pairs of them. Throws the errors that
 * Node throws over HTTP/1.1. Over HTTP/2, Node would send the octets, and a proxy may end the session because of
 * them.
 */
export function expectValidFields(fields: unknown): void {
  if (typeof fields !== 'object' || fields === null) return
  const list: readonly unknown[] = Array.isArray(fields) ? fields : Object.entries(fields).flat()
  if (Array.isArray(list[0])) for (const pair of list) expectValidFields(pair)
  else for (let at = 0; at < list.length; at += 2) expectValidField(String(list[at]), list[at + 1])
}

/** Checks one field, as `expectValidFields` does. */
export function expectValidField(name: string, value: unknown): void {
  // Node rejects pseudo-fields and missing values with errors of HTTP/2.
  if (!name.startsWith(':')) validateHeaderName(name)
  for (const text of Array.isArray(value) ? value : [value])
    if (typeof text === 'string') validateHeaderValue(name, text)
}
