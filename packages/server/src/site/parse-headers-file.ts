import type { FieldValues } from '@serve-dist/manifest'
import { fieldProblem } from '@serve-dist/manifest'

/** Fields for the paths that match a pattern. */
export interface HeadersFileRule {
  /** In the syntax of `parsePathPattern`. */
  readonly pattern: string
  readonly fields: FieldValues
}

/** The rules of a file, and the problems that were found in it. */
export interface ParsedFile<Rule> {
  readonly rules: readonly Rule[]
  /** One line each, with the line number in the file. */
  readonly problems: readonly string[]
}

/**
 * Parses a `_headers` file in the format of Netlify and Cloudflare Pages: a path, then its indented fields.
 * Repeated fields of a path are joined with a comma. `! Name` removes a default field.
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
        problems.push(
          `${place}: "${content}" is not a path. Remove the rule: rules for other hosts are not supported.`,
        )
        // The fields below this line have no valid path.
        rules.push({ pattern: '', fields: new Map() })
      }
      continue
    }
    const fields = rules.at(-1)?.fields
    if (fields === undefined)
      problems.push(`${place}: this field comes before the first path. Write the path above it.`)
    else problems.push(...readField(content, fields).map((problem) => `${place}: ${problem}`))
  }
  return {
    rules: rules
      .filter(({ pattern }) => pattern !== '')
      .map(({ pattern, fields }) => ({ pattern, fields: Object.fromEntries(fields.values()) })),
    problems,
  }
}

/** The key is the lower-case name. This is a map because a field may be called `constructor`. */
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
  if (colon < 1) return [`"${content}" is not a field. Write "Name: value".`]
  const name = content.slice(0, colon).trim()
  const value = content.slice(colon + 1).trim()
  if (name.toLowerCase() === 'basic-auth')
    return ['Basic-Auth is not supported. Use a reverse proxy for authentication.']
  const problem = fieldProblem(name, value)
  if (problem !== undefined) return [problem]
  const key = name.toLowerCase()
  const [existing = name, before] = fields.get(key) ?? []
  // RFC 9110 §5.3: Set-Cookie is the only field whose lines cannot be joined.
  if (typeof before === 'string' && key === 'set-cookie')
    return ['a second Set-Cookie for one path is not supported. Remove one of the two.']
  fields.set(key, [existing, before === undefined || before === null ? value : `${before}, ${value}`])
  return []
}
