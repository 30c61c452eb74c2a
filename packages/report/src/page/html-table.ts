import { escapeHtml } from './escape-html.ts'
import { htmlChange } from './html-change.ts'
import type { PageData, PageNode } from './page-node.ts'

/** Every file as a row, for those who do not see the treemap: first what changed most, then what weighs most. */
export function htmlTable({ columns, root }: PageData): string {
  const heads = columns.map((column) => `<th scope="col">${column === 'identity' ? 'size' : column}</th>`)
  const files = filesOf(root).toSorted((a, b) => changeOf(b) - changeOf(a) || weightOf(b) - weightOf(a))
  return `<table>
<caption class="hidden">Every file with its size in every coding</caption>
<thead><tr><th scope="col">file</th><th scope="col">kind</th>${heads.join('')}</tr></thead>
<tbody>
${files.map(rowOf).join('\n')}
</tbody>
<tfoot><tr><th scope="row">total</th><td></td>${cellsOf(root)}</tr></tfoot>
</table>`
}

function rowOf(file: PageNode): string {
  const isShown = file.state !== undefined && file.state !== 'same'
  const state = isShown ? `<span class="state">${file.state}</span>` : ''
  return `<tr><th scope="row"><bdi>${escapeHtml(file.path)}</bdi>${state}</th><td>${file.kind}</td>${cellsOf(file)}</tr>`
}

function cellsOf({ sizes }: PageNode): string {
  return sizes
    .map((size) => `<td>${escapeHtml(size.text)}${size.verdict === 'same' ? '' : htmlChange(size)}</td>`)
    .join('')
}

function filesOf(node: PageNode): PageNode[] {
  return node.children === undefined ? [node] : node.children.flatMap(filesOf)
}

/** What is new or removed and what changed, not what is noise. */
function changeOf({ sizes }: PageNode): number {
  return Number(sizes.some(({ verdict }) => verdict === 'larger' || verdict === 'smaller'))
}

function weightOf({ sizes }: PageNode): number {
  return sizes.at(-1)?.bytes ?? 0
}
