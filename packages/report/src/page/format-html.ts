import { createHash } from 'node:crypto'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import type { BuildReport } from '../formats/create-report.ts'
import { describeBudget } from '../budgets/check-budgets.ts'
import { describeDownload } from '../builds/returning-visitor.ts'
import { describePreference, preferenceCost } from '../builds/preference-cost.ts'
import { summarizeComparison } from '../compare/compare-builds.ts'
import { pageData, type PageData, type PageNode, type PageSize, returning } from './page-data.ts'
import type { PageAssets } from './read-page-assets.ts'

/**
 * Formats a report as one HTML page without external resources: a treemap for each size, the changes and a table. File
 * names are always escaped. The content security policy permits only the page's own script and style.
 */
export function formatHtml(report: BuildReport, { script, style }: PageAssets): string {
  const data = pageData(report)
  const policy = [
    "default-src 'none'",
    `script-src ${sourceHash(script)}`,
    `style-src ${sourceHash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${titleOf(report)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${titleOf(report)}</h1>
${facts(report)}
${cards(data)}
${budgets(report)}
${treemap(data)}
<h2 id="table-title">Files</h2>
<div class="table" role="region" aria-labelledby="table-title" tabindex="0">
${table(data)}
</div>
</main>
<script type="application/json" id="data">${embedJson(data)}</script>
<script type="module">${script}</script>
</body>
</html>
`
}

/** Returns a source for the policy by digest, so that the browser rejects injected scripts. */
function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

function titleOf({ title, comparison }: BuildReport): string {
  return escapeHtml(comparison === undefined ? title : `${title}: changes`)
}

function facts({ build, comparison, download }: BuildReport): string {
  const items = [
    `${pluralize(build.files.length, 'file')} under <code>${escapeHtml(build.base)}</code>`,
    `build <code>${escapeHtml(shortId(build.buildId))}</code>`,
    ...(comparison === undefined
      ? []
      : [
          `against <code>${escapeHtml(shortId(comparison.before.buildId))}</code>`,
          escapeHtml(summarizeComparison(comparison).files),
        ]),
    ...(download === undefined ? [] : [sizeText(describeDownload(build, download))]),
  ]
  const preference = describePreference(preferenceCost(build)) ?? ''
  return `<p class="facts">${items.map((item) => `<span>${item}</span>`).join('')}<span>${sizeText(preference)}</span></p>`
}

/** Formats the totals. They are also radio buttons that select the size in the treemap. */
function cards({ columns, root }: PageData): string {
  const chosen = columns.includes('sent') ? 'sent' : 'identity'
  const items = columns.map((column, index) => {
    const size = root.sizes[index]
    const name = column === 'identity' ? 'size' : column === 'sent' ? 'sent by default' : column
    return `<label class="card"><input class="hidden" type="radio" name="column" value="${column}"${column === chosen ? ' checked' : ''}>
<span class="card-name">${name}</span><span class="card-size">${sizeText(size?.text ?? '')}</span>${change(size)}</label>`
  })
  return `<fieldset><legend class="hidden">Size in the treemap</legend><div class="cards">${items.join('\n')}</div></fieldset>`
}

function budgets({ budgets: results }: BuildReport): string {
  if (results.length === 0) return ''
  const items = results.map(
    (result) =>
      `<li data-outcome="${result.outcome}">${result.outcome === 'within' ? '✓' : '✗'} ${sizeText(describeBudget(result))}</li>`,
  )
  return `<ul class="budgets" aria-label="Budgets">${items.join('')}</ul>`
}

function treemap({ columns, isComparison }: PageData): string {
  const colours = isComparison ? 'change' : 'kind'
  return `<div class="toolbar">
<nav aria-label="Folder path"><ol id="trail"></ol></nav>
${isComparison ? colourSwitch : ''}
<p class="legend legend-kind"><span><i data-swatch="js"></i>js</span><span><i data-swatch="css"></i>css</span><span><i data-swatch="html"></i>html</span><span><i data-swatch="other"></i>other</span></p>
<p class="legend legend-change"><span><i data-swatch="larger"></i>▲ larger</span><span><i data-swatch="smaller"></i>▼ smaller</span><span><i data-swatch="new"></i>new</span><span><i></i>unchanged or noise</span></p>
${columns.includes(returning) ? legendOfReturning : ''}</div>
<div id="treemap" role="group" aria-label="Treemap of the build" aria-describedby="hint" data-colours="${colours}"></div>
<p class="hidden" role="status" id="announcement"></p>
<div id="details"></div>
<p class="hint" id="hint"><kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd> move · <kbd>Enter</kbd> opens a folder · <kbd>Esc</kbd> goes back up</p>
<noscript><p>The treemap needs JavaScript. The table below contains the same data.</p></noscript>`
}

const legendOfReturning = `<p class="legend legend-returning"><span><i data-swatch="smaller"></i>▼ a delta</span><span><i data-swatch="new"></i>new</span><span><i></i>in full</span><span>unchanged files are not shown</span></p>
`

const colourSwitch = `<fieldset class="switch"><legend class="hidden">Colours</legend>
<label><input class="hidden" type="radio" name="colours" value="change" checked>by change</label>
<label><input class="hidden" type="radio" name="colours" value="kind">by kind</label></fieldset>`

/** Formats all files as a table, for people who cannot see the treemap. Changed files come first, then the largest. */
function table({ columns, root }: PageData): string {
  const heads = columns.map((column) => `<th scope="col">${column === 'identity' ? 'size' : column}</th>`)
  const decisive = Math.max(0, columns.indexOf('sent'))
  const weightOf = ({ sizes }: PageNode): number => sizes[decisive]?.bytes ?? 0
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
    .map((size) => `<td>${sizeText(size.text)}${size.verdict === 'same' ? '' : change(size)}</td>`)
    .join('')
}

function filesOf(node: PageNode): PageNode[] {
  return node.children === undefined ? [node] : node.children.flatMap(filesOf)
}

/** Returns 1 for files that are new, removed or changed beyond noise, else 0. */
function changeOf({ sizes }: PageNode): number {
  return Number(sizes.some(({ verdict }) => verdict === 'larger' || verdict === 'smaller'))
}

/** Formats a change, with a mark for people who cannot distinguish red from green. */
function change(size: PageSize | undefined): string {
  if (size?.verdict === undefined) return ''
  const mark = size.verdict === 'larger' ? '▲&nbsp;' : size.verdict === 'smaller' ? '▼&nbsp;' : ''
  const text = size.change ?? 'no change'
  return `<span class="change" data-verdict="${size.verdict}">${mark}${sizeText(text)}</span>`
}

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes a text with sizes. No line breaks between a number and its unit. */
function sizeText(text: string): string {
  return escapeHtml(text).replaceAll(/(?<=\d) (?=[kM]?B\b|%)/g, '&nbsp;')
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => references[character] ?? '')
}

/** Serializes JSON for a script element. The result cannot end the element or start an HTML comment. */
export function embedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => {
    return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
