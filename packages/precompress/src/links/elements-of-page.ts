import { type DefaultTreeAdapterTypes, html as syntax, parse } from 'parse5'
import { findShadowRoots } from './find-shadow-roots.ts'

/** An element of a page. */
export interface PageElement {
  /** Tag in lower case, except for some elements of SVG. */
  readonly tag: string
  /** `other`: an element of MathML, or in a `<template>`, where elements are inert. */
  readonly kind: 'html' | 'svg' | 'other'
  /** Attributes without a namespace. `xlink:href` appears as `href`. */
  readonly attributes: Readonly<Record<string, string>>
  /** Content of a script or a style. */
  readonly text?: string
  /** Line number from 1. Only with the option `lines`. */
  readonly line?: number
}

export interface ElementOptions {
  /** Adds the line of each element, which takes time. @default false */
  readonly lines?: boolean
  /** Parses as with enabled scripts: `<noscript>` contains text. @default true */
  readonly scripting?: boolean
}

type Element = DefaultTreeAdapterTypes.Element

/**
 * Returns all elements of a page in order, including those of templates and declarative shadow roots. Import this file
 * only if there are pages, because the parser takes 10 ms of CPU to load.
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
    // Push one by one, because a page may have more siblings than a call accepts arguments.
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
 * Renames `<select>` for the parser. parse5 8.1 drops elements inside a `<select>`, but browsers keep them since 2025
 * (HTML §13.2.6.4.7).
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

/** Returns the `href` of the first `<base>` that has one. */
export function baseUrlOf(elements: readonly PageElement[]): string | undefined {
  return elements.find(
    ({ tag, kind, attributes }) => tag === 'base' && kind === 'html' && attributes['href'] !== undefined,
  )?.attributes['href']
}
