import type { PageElement } from '../links/elements-of-page.ts'

type Kind = PageElement['kind']
type Attributes = PageElement['attributes']

/** The JavaScript types (MIME Sniffing §4.6). Values with parameters do not match. */
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
 * Returns whether a policy applies to an inline script (HTML §4.12.1.1, "prepare the script element"). The attributes
 * `for` and `event` do not matter, because browsers check the policy first.
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
