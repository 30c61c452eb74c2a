import { type DefaultTreeAdapterTypes, html as syntax, parse } from 'parse5'
import { findShadowRoots } from './find-shadow-roots.ts'

/** An element as it stands in a page. */
export interface PageElement {
  /** In lower case, but for some of SVG. */
  readonly tag: string
  /** `other`: of MathML, or inside of a `<template>`, where elements are no more than their attributes. */
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
 * The elements of a page, in their order, with those of its templates and declarative shadow roots. As in a browser that
 * runs scripts, the content of `<noscript>` is text. Load this file when a page is to be read: the parser takes 10 ms of
 * CPU.
 */
export function elementsOfPage(
  text: string,
  { lines = false, scripting = true }: ElementOptions = {},
): PageElement[] {
  const elements: PageElement[] = []
  const { marked, unmark } = markSelects(text)
  const { isShadowRoot, treeAdapter } = findShadowRoots()
  const document = parse(marked, {
    sourceCodeLocationInfo: lines,
    scriptingEnabled: scripting,
    treeAdapter,
  })
  const ahead: Ahead[] = [{ node: document, isInert: false }]
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { node, isInert } = next
    if ('tagName' in node) elements.push(describe(node, isInert, unmark))
    // One by one: a page may have more siblings than a call takes arguments.
    const push = ({ childNodes }: DefaultTreeAdapterTypes.ParentNode, inert: boolean): void => {
      for (const child of childNodes.toReversed()) ahead.push({ node: child, isInert: inert })
    }
    if ('content' in node) push(node.content, isInert || !isShadowRoot(node))
    if ('childNodes' in node) push(node, isInert)
  }
  return elements
}

interface Ahead {
  readonly node: DefaultTreeAdapterTypes.Node
  readonly isInert: boolean
}

/**
 * Browsers keep all elements inside of a `<select>` (HTML §13.2.6.4.7 since 2025), the parser (8.1) drops them: so
 * it is shown an element of another name.
 */
function markSelects(text: string): { readonly marked: string; readonly unmark: (text: string) => string } {
  if (!/<select/i.test(text)) return { marked: text, unmark: (same) => same }
  let mark = 'mark'
  for (let count = 0; text.includes(mark); count += 1) mark = `mark${count}`
  return {
    marked: text.replaceAll(/<\/?select(?=[\s/>])/gi, `$&${mark}`),
    unmark: (found) => found.replaceAll(mark, ''),
  }
}

function describe(node: Element, isInert: boolean, unmark: (text: string) => string): PageElement {
  const { namespaceURI, attrs, sourceCodeLocation } = node
  const tag = unmark(node.tagName)
  const named = attrs.filter(({ prefix, name }) => !prefix || (prefix === 'xlink' && name === 'href'))
  const isKnown = namespaceURI === syntax.NS.HTML || namespaceURI === syntax.NS.SVG
  return {
    tag,
    kind: isInert || !isKnown ? 'other' : namespaceURI === syntax.NS.HTML ? 'html' : 'svg',
    attributes: Object.fromEntries(named.map(({ name, value }) => [name, unmark(value)])),
    ...((tag === 'script' || tag === 'style') && { text: unmark(textOf(node)) }),
    ...(sourceCodeLocation && { line: sourceCodeLocation.startLine }),
  }
}

function textOf({ childNodes }: Element): string {
  return childNodes.map((child) => ('value' in child ? child.value : '')).join('')
}

/** The `href` of the first `<base>` that has one. */
export function baseUrlOf(elements: readonly PageElement[]): string | undefined {
  return elements.find(
    ({ tag, kind, attributes }) => tag === 'base' && kind === 'html' && attributes['href'] !== undefined,
  )?.attributes['href']
}
