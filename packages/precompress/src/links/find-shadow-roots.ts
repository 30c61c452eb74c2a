import { defaultTreeAdapter, type DefaultTreeAdapterTypes, html as syntax, type TreeAdapter } from 'parse5'

type Node = DefaultTreeAdapterTypes.Node

/** Collects the declarative shadow roots of a page during parsing. */
export interface ShadowRoots {
  readonly treeAdapter: TreeAdapter<DefaultTreeAdapterTypes.DefaultTreeAdapterMap>
  readonly isShadowRoot: (template: Node) => boolean
}

/**
 * Creates a tree adapter that detects shadow roots: the first `<template shadowrootmode>` of a valid host (HTML
 * §13.2.6.4.4). It checks each template at its start tag, because a wrong end tag may move the element later.
 */
export function findShadowRoots(): ShadowRoots {
  const placed = new Set<Node>()
  const withRoot = new Set<Node>()
  const roots = new Set<Node>()
  return {
    treeAdapter: {
      ...defaultTreeAdapter,
      appendChild: (parent, child) => {
        defaultTreeAdapter.appendChild(parent, child)
        if (!isShadowTemplate(child) || placed.has(child)) return
        placed.add(child)
        if (!mayBeHost(parent) || withRoot.has(parent)) return
        withRoot.add(parent)
        roots.add(child)
      },
    },
    isShadowRoot: (template) => roots.has(template),
  }
}

function isShadowTemplate(node: Node): boolean {
  if (!('content' in node)) return false
  const mode = node.attrs.find(({ name }) => name === 'shadowrootmode')?.value.toLowerCase()
  return mode === 'open' || mode === 'closed'
}

/** Valid hosts of a shadow root, besides custom elements (DOM §4.9, "valid shadow host name"). */
const hosts: ReadonlySet<string> = new Set(
  'article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '),
)
/** Names that custom elements must not have, because SVG and MathML use them (HTML §4.13.3). */
const reserved = /^(?:annotation-xml|color-profile|font-face(?:-src|-uri|-format|-name)?|missing-glyph)$/

function mayBeHost(node: Node): boolean {
  if (!('tagName' in node) || node.namespaceURI !== syntax.NS.HTML) return false
  return hosts.has(node.tagName) || (node.tagName.includes('-') && !reserved.test(node.tagName))
}
