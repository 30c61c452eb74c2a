import { groupDigits } from '@serve-dist/foundation/text/group-digits'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { type Cell, cell, layOutTable } from '@serve-dist/foundation/terminal/text-table'
import type { Download, PublishSummary } from '@serve-dist/store'
import { formatDeltas } from './format-deltas.ts'
import { formatMilliseconds } from './format-milliseconds.ts'

/** The maximum number of changed files in the list. */
const mostRows = 10

/**
 * Describes a publish, or a dry run of one, in a few lines.
 *
 * @param width - the width of the terminal, to which paths are shortened.
 */
export function formatPublish(summary: PublishSummary, place: string, width?: number): string {
  const { id, isDryRun, new: sent, reused, kept, generations, pruned, milliseconds } = summary
  const { files, wasCurrent, download, deltas } = summary
  const earlier = generations.filter((other) => other !== id).length
  const gone = pruned.generations.map(shortId)
  return [
    isDryRun
      ? `would publish ${shortId(id)} to ${place}; nothing is changed`
      : `published ${shortId(id)} to ${place} in ${formatMilliseconds(milliseconds)}; ${wasCurrent ? 'it was current already' : 'it is current now'}`,
    `  ${pluralize(files, 'file')}: ${groupDigits(sent.files)} new, ${groupDigits(reused.files)} reused${files > sent.files + reused.files ? ', and the environment module' : ''}; ${pluralize(sent.blobs, 'object')} and ${formatBytes(sent.bytes)} ${isDryRun ? 'to send' : 'sent'}`,
    ...(download === undefined ? [] : formatDownload(download, width)),
    ...(deltas === undefined ? [] : [`  deltas: ${formatDeltas(deltas, isDryRun)}`]),
    `  kept for open tabs and rollbacks: ${earlier === 0 ? 'no earlier build' : `${pluralize(kept.files, 'file')} of ${pluralize(earlier, 'earlier build')}, ${formatBytes(kept.bytes)}`}`,
    `  ${isDryRun ? 'to prune' : 'pruned'}: ${gone.length + pruned.blobs === 0 ? 'nothing' : `${pluralize(gone.length, 'build')}${gone.length === 0 ? '' : ` (${joinFirstNames(gone)})`}, ${formatBytes(pruned.bytes)}`}`,
  ].join('\n')
}

function formatDownload({ files, bytes, bytesWithDeltas, changes }: Download, width = Infinity): string[] {
  if (files === 0) return ['  returning visitors download nothing']
  const most = `  returning visitors download at most ${pluralize(files, 'file')}, ${formatBytes(bytes)}`
  if (bytesWithDeltas === undefined) return [most]
  const shown = changes.filter(({ delta }) => delta !== undefined)
  const rows = shown
    .slice(0, mostRows)
    .map(({ path, br, zstd, delta }) => [cell(path), sizeCell(br), sizeCell(zstd), sizeCell(delta)])
  const head = ['with a delta', 'br', 'zstd', 'delta'].map((name) => cell(name))
  return [
    `${most}; ${formatBytes(bytesWithDeltas)} with deltas (Chromium)`,
    ...layOutTable([head, ...rows], { colors: false, width: width - 4 }).map((line) => `    ${line}`),
    ...(shown.length > mostRows
      ? [`    … and ${groupDigits(shown.length - mostRows)} more (--json has all)`]
      : []),
  ]
}

function sizeCell(size: number | undefined): Cell {
  return cell(size === undefined ? '–' : formatBytes(size))
}
