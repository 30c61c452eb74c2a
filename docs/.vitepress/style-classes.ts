import type { MarkdownRenderer } from 'vitepress'
import type { ShikiTransformer } from 'shiki'

// The policy of the site allows no `style` attributes. The theme has a rule for each of these classes.

/** Replaces the `style` attributes of coloured code by classes such as `code-keyword`. */
export const codeClasses: ShikiTransformer = {
  name: 'code-classes',
  pre({ properties }) {
    delete properties['style']
  },
  span(node) {
    const { style, ...properties } = node.properties
    const token = /--code-token-([\w-]+)/.exec(String(style))?.[1]
    node.properties = token === undefined ? properties : { ...properties, class: `code-${token}` }
  },
}

/** Replaces the `style` attributes of aligned table cells by classes such as `align-right`. */
export function alignmentClasses(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('alignment-classes', ({ tokens }) => {
    for (const token of tokens) {
      const alignment = /^text-align:(\w+)$/.exec(token.attrGet('style') ?? '')?.[1]
      if (alignment === undefined) continue
      token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style')
      token.attrJoin('class', `align-${alignment}`)
    }
  })
}
