import type { MarkdownRenderer } from 'vitepress'

/** Keeps Vue from evaluating `{{ … }}` in inline code. */
export function verbatimCode(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after('inline', 'verbatim-code', ({ tokens }) => {
    const inline = tokens.flatMap(({ children }) => children ?? [])
    for (const token of inline) if (token.type === 'code_inline') token.attrSet('v-pre', '')
  })
}
