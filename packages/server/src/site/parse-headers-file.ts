import type { FieldValues } from '@serve-dist/manifest'
import { fieldProblem } from '@serve-dist/manifest'

/** Fields for the paths that match a pattern. */
export interface HeadersFileRule {
  /** As `parsePathPattern` takes it. */
  readonly pattern: string
  readonly fields: FieldValues
}

/** What a file said, and what of it is not done. */
export interface ParsedFile<Rule> {
  readonly rules: readonly Rule[]
  /** One line each, with the number of the line in the file. */
  readonly problems: readonly string[]
}

/**
 * Reads a `_headers` file as Netlify and Cloudflare Pages know it: a path, then its fields, indented. A
 * field that a path has twice is joined with a comma; `! Name` takes a default away.
 */
export function parseHeadersFile(text: string): ParsedFile<HeadersFileRule> {
  const rules: { readonly pattern: string; readonly fields: WrittenFields }[] = []
  const problems: string[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const content = line.trim()
    const place = `_headers:${index + 1}`
    if (content === '' || content.startsWith('#')) continue
    if (!/^\s/.test(line)) {
      if (content.startsWith('/')) rules.push({ pattern: content, fields: new Map() })
      else {
        problems.push(`${place}: "${content}" is not a path; rules for other hosts are not supported`)
        // Its fields belong to no path of ours.
        rules.push({ pattern: '', fields: new Map() })
      }
      continue
    }
    const fields = rules.at(-1)?.fields
    if (fields === undefined) problems.push(`${place}: a field before any path`)
    else problems.push(...readField(content, fields).map((problem) => `${place}: ${problem}`))
  }
  return {
    rules: rules
      .filter(({ pattern }) => pattern !== '')
      .map(({ pattern, fields }) => ({ pattern, fields: Object.fromEntries(fields.values()) })),
    problems,
  }
}

/** By lower-case name: the name as it was first written, and the value. A map, for a name may be `constructor`. */
type WrittenFields = Map<string, readonly [name: string, value: string | null]>

function readField(content: string, fields: WrittenFields): string[] {
  const removed = /^!\s*(\S+)$/.exec(content)?.[1]
  if (removed !== undefined) {
    const problem = fieldProblem(removed, '')
    if (problem !== undefined) return [problem]
    fields.set(removed.toLowerCase(), [removed, null])
    return []
  }
  const colon = content.indexOf(':')
  if (colon < 1) return [`"${content}" is not a field; expected "Name: value"`]
  const name = content.slice(0, colon).trim()
  const value = content.slice(colon + 1).trim()
  if (name.toLowerCase() === 'basic-auth')
    return ['Basic-Auth is not supported; put a proxy that knows users in front']
  const problem = fieldProblem(name, value)
  if (problem !== undefined) return [problem]
  const key = name.toLowerCase()
  const [existing = name, before] = fields.get(key) ?? []
  // RFC 9110 §5.3: the one field whose lines cannot be joined.
  if (typeof before === 'string' && key === 'set-cookie')
    return ['a second Set-Cookie of one path is not supported: cookies cannot be joined']
  fields.set(key, [existing, before === undefined || before === null ? value : `${before}, ${value}`])
  return []
}
