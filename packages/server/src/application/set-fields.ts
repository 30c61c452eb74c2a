import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** Fields as `ServerResponse.writeHead` takes them: by name, or names and values by turns. */
export type HeadFields = OutgoingHttpHeaders | readonly OutgoingHttpHeader[]

/** Sets the fields that `writeHead` was given one by one, so that they can be read and changed again. */
export function setFields(response: ServerResponse, fields: HeadFields): void {
  const given = new Set<string>()
  for (const [name, value] of isList(fields) ? pairsOf(fields) : Object.entries(fields)) {
    if (value === undefined) continue
    const key = name.toLowerCase()
    // Only a list can name a field twice: then both lines are meant.
    if (given.has(key)) response.appendHeader(name, typeof value === 'number' ? String(value) : value)
    else response.setHeader(name, value)
    given.add(key)
  }
}

function isList(fields: HeadFields): fields is readonly OutgoingHttpHeader[] {
  return Array.isArray(fields)
}

function pairsOf(list: readonly OutgoingHttpHeader[]): [string, OutgoingHttpHeader | undefined][] {
  return list.flatMap((name, index) => (index % 2 === 0 ? [[String(name), list[index + 1]]] : []))
}
