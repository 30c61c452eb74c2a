import { escapeHtml } from './escape-html.ts'
import type { PageSize } from './page-node.ts'

/** A change of a size, marked for eyes that do not tell red from green; empty where there is none. */
export function htmlChange(size: PageSize | undefined): string {
  if (size?.verdict === undefined) return ''
  const mark = size.verdict === 'larger' ? '▲ ' : size.verdict === 'smaller' ? '▼ ' : ''
  const text = size.change ?? 'no change'
  return `<span class="change" data-verdict="${size.verdict}">${mark}${escapeHtml(text)}</span>`
}
