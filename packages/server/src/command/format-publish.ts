import { count, firstNames, formatBytes } from '@serve-dist/manifest'
import type { PublishSummary } from '@serve-dist/store'
import { shortIds } from './short-ids.ts'

/** What a publish did, or would do, in a few lines for people. */
export function formatPublish(summary: PublishSummary, place: string): string {
  const { id, replaced = id, isDryRun, new: sent, reused, kept, generations, pruned, milliseconds } = summary
  const { wasCurrent, download } = summary
  const shorten = shortIds([id, replaced, ...generations, ...pruned.generations])
  const earlier = generations.filter((other) => other !== id).length
  const time = milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`
  const gone = pruned.generations.map(shorten)
  return [
    isDryRun
      ? `would publish ${shorten(id)} to ${place}; nothing is changed`
      : `published ${shorten(id)} to ${place} in ${time}; ${wasCurrent ? 'it was current already' : 'it is current now'}`,
    `  ${count(sent.files + reused.files, 'file')}: ${sent.files} new, ${reused.files} reused; ${count(sent.blobs, 'object')} and ${formatBytes(sent.bytes)} ${isDryRun ? 'to send' : 'sent'}`,
    ...(download === undefined
      ? []
      : [
          `  returning visitors download ${download.files === 0 ? 'nothing' : `at most ${count(download.files, 'file')}, ${formatBytes(download.bytes)}`}`,
        ]),
    `  kept for open tabs and rollbacks: ${earlier === 0 ? 'no earlier build' : `${count(kept.files, 'file')} of ${count(earlier, 'earlier build')}, ${formatBytes(kept.bytes)}`}`,
    `  ${isDryRun ? 'to prune' : 'pruned'}: ${gone.length + pruned.blobs === 0 ? 'nothing' : `${count(gone.length, 'build')}${gone.length === 0 ? '' : ` (${firstNames(gone)})`}, ${formatBytes(pruned.bytes)}`}`,
  ].join('\n')
}
