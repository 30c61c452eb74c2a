import { textOf, walk } from './worker-starts.ts'

/** Parses a module: the bundler's own parser. */
export type Parse = (code: string) => unknown

/** The text of an inline worker in Vite's wrapper of it, and where its literal stands. */
interface InlineText {
  readonly text: string
  readonly start: number
  readonly end: number
}

/**
 * Vite's wrapper of an inline worker whose import of the environment has a URL that the page makes when it starts the
 * worker: a `blob:` URL is no base for a relative one.
 *
 * @param expression - gives the URL where the wrapper runs.
 * @returns `undefined` where the worker's own text does not import the module.
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
  /** What the worker imports the module by. */
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
