import { textOf, walk } from './worker-starts.ts'

/** Parses a module with the bundler's parser. */
export type Parse = (code: string) => unknown

/** The text of an inline worker, and the position of its literal in Vite's wrapper. */
interface InlineText {
  readonly text: string
  readonly start: number
  readonly end: number
}

/**
 * Rewrites Vite's wrapper of an inline worker, so that the page computes the URL of the environment module when it
 * starts the worker. Relative URLs do not work, because a `blob:` URL is not a base.
 *
 * @param expression - computes the URL in the wrapper.
 * @returns `undefined` if the worker's text does not import the module.
 */
export function importByExpression(
  wrapper: string,
  { url: imported, expression, parse }: InlineImport,
): string | undefined {
  const inline = findInlineText(wrapper, parse)
  if (inline === undefined) return undefined
  const sources = importSources(inline.text, parse).filter(({ url }) => url === imported)
  if (sources.length === 0) return undefined
  let text = ''
  let end = 0
  for (const source of sources) {
    text += `${JSON.stringify(inline.text.slice(end, source.start))} + JSON.stringify(${expression}) + `
    end = source.end
  }
  text += JSON.stringify(inline.text.slice(end))
  return `${wrapper.slice(0, inline.start)}${text}${wrapper.slice(inline.end)}`
}

export interface InlineImport {
  /** URL by which the worker imports the module. */
  readonly url: string
  readonly expression: string
  readonly parse: Parse
}

function findInlineText(wrapper: string, parse: Parse): InlineText | undefined {
  let found: InlineText | undefined
  walk(parse(wrapper), ({ type, id, init }) => {
    if (type !== 'VariableDeclarator' || Object(id).name !== 'jsContent') return
    const text = textOf(init)
    if (text !== undefined) found = { text, start: Number(Object(init).start), end: Number(Object(init).end) }
  })
  return found
}

function importSources(
  code: string,
  parse: Parse,
): { readonly url: string; readonly start: number; readonly end: number }[] {
  const sources: { url: string; start: number; end: number }[] = []
  walk(parse(code), ({ type, source }) => {
    const url = importing.has(type) ? textOf(source) : undefined
    if (url === undefined) return
    sources.push({ url, start: Number(Object(source).start), end: Number(Object(source).end) })
  })
  return sources.toSorted((a, b) => a.start - b.start)
}

const importing: ReadonlySet<string> = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
])
