import { type DefaultTreeAdapterTypes, html as syntax, parse } from 'parse5'

/** An element as it stands in a page. */
export interface PageElement {
  /** In lower case, but for some of SVG. */
  readonly tag: string
  /** What kind of element a browser makes of it; `other`: of MathML. */
  readonly kind: 'html' | 'svg' | 'other'
  /** Without those of namespaces, but for `xlink:href`, which stands as `href`. */
  readonly attributes: Readonly<Record<string, string>>
  /** Of a script or a style: what stands between its tags. */
  readonly text?: string
  /** From 1, where lines are asked for. */
  readonly line?: number
}

export interface ElementOptions {
  /** Whether each element has its line, which takes time. @default false */
  readonly lines?: boolean
  /** Whether scripts run there, so that `<noscript>` holds text. @default true */
  readonly scripting?: boolean
}

type Element = DefaultTreeAdapterTypes.Element

/**
 * The elements of a page, in their order, with those of its declarative shadow roots. As in a browser that runs scripts,
 * the content of `<noscript>` is text; that of another `<template>` stands apart. Load this file when a page is to be
 * read: the parser takes 10 ms of CPU.
 */
export function elementsOfPage(
  text: string,
  { lines = false, scripting = true }: ElementOptions = {},
): PageElement[] {
  const elements: PageElement[] = []
  const document = parse(text, { sourceCodeLocationInfo: lines, scriptingEnabled: scripting })
  const ahead: DefaultTreeAdapterTypes.Node[] = [document]
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    if ('tagName' in node) {
      elements.push(describe(node))
      if (isShadowRoot(node)) ahead.push(...node.content.childNodes.toReversed())
    }
    if ('childNodes' in node) ahead.push(...node.childNodes.toReversed())
  }
  return elements
}

function describe(node: Element): PageElement {
  const { tagName: tag, namespaceURI, attrs, sourceCodeLocation } = node
  const named = attrs.filter(({ prefix, name }) => !prefix || (prefix === 'xlink' && name === 'href'))
  return {
    tag,
    kind: namespaceURI === syntax.NS.HTML ? 'html' : namespaceURI === syntax.NS.SVG ? 'svg' : 'other',
    attributes: Object.fromEntries(named.map(({ name, value }) => [name, value])),
    ...((tag === 'script' || tag === 'style') && { text: textOf(node) }),
    ...(sourceCodeLocation && { line: sourceCodeLocation.startLine }),
  }
}

function textOf({ childNodes }: Element): string {
  return childNodes.map((child) => ('value' in child ? child.value : '')).join('')
}

/** Elements besides custom ones that may have a shadow root (DOM §4.9, "valid shadow host name"). */
const hosts: ReadonlySet<string> = new Set(
  'article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '),
)

/** The first `<template shadowrootmode>` of an element that may have one (HTML §13.2.6.4.4); a second stays a template. */
function isShadowRoot(node: Element): node is DefaultTreeAdapterTypes.Template {
  const { parentNode: host } = node
  if (!isShadowTemplate(node) || host === null || !('tagName' in host)) return false
  if (host.namespaceURI !== syntax.NS.HTML || !(hosts.has(host.tagName) || host.tagName.includes('-')))
    return false
  return host.childNodes.find(isShadowTemplate) === node
}

function isShadowTemplate(node: DefaultTreeAdapterTypes.Node): node is DefaultTreeAdapterTypes.Template {
  if (!('content' in node)) return false
  const mode = node.attrs.find(({ name }) => name === 'shadowrootmode')?.value.toLowerCase()
  return mode === 'open' || mode === 'closed'
}

/** The `href` of the first `<base>` that has one. */
export function baseUrlOf(elements: readonly PageElement[]): string | undefined {
  return elements.find(
    ({ tag, kind, attributes }) => tag === 'base' && kind === 'html' && attributes['href'] !== undefined,
  )?.attributes['href']
}
