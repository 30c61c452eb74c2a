import type { PageElement } from '../links/elements-of-page.ts'

type Kind = PageElement['kind']
type Attributes = PageElement['attributes']

/** The types of JavaScript (MIME Sniffing §4.6): nothing else may stand in the value, no parameter either. */
const scriptTypes: ReadonlySet<string> = new Set([
  ...['ecmascript', 'javascript', 'x-ecmascript', 'x-javascript'].flatMap((name) => [
    `application/${name}`,
    `text/${name}`,
  ]),
  ...['1.0', '1.1', '1.2', '1.3', '1.4', '1.5'].map((version) => `text/javascript${version}`),
  'text/jscript',
  'text/livescript',
])
const otherTypes: ReadonlySet<string> = new Set(['module', 'importmap', 'speculationrules'])

/**
 * Whether a browser asks the policy for a script without a file of its own (HTML §4.12.1.1, "prepare the script element"):
 * it asks before it looks at `for` and `event`.
 */
export function isScript(kind: Kind, attributes: Attributes, text: string): boolean {
  if (kind === 'other' || text === '') return false
  if (attributes[kind === 'html' ? 'src' : 'href'] !== undefined) return false
  const type = typeOf(kind, attributes)
  if (otherTypes.has(type)) return true
  if (!scriptTypes.has(type)) return false
  return kind === 'svg' || attributes['nomodule'] === undefined
}

function typeOf(kind: Kind, { type, language }: Attributes): string {
  if (type === '') return 'text/javascript'
  if (type !== undefined) return type.replaceAll(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase()
  return language && kind === 'html' ? `text/${language.toLowerCase()}` : 'text/javascript'
}
