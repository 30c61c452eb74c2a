import { markdownTable } from 'markdown-table'
import { isNoise, median, spread } from '../serve/statistics.ts'
import type { BuildReport } from './build-table.ts'

const quantities = [
  { name: 'wall', key: 'wallSeconds' },
  { name: 'CPU', key: 'cpuSeconds' },
  { name: 'peak', key: 'peakBytes' },
  { name: 'written', key: 'writtenBytes' },
] as const

/** A line for each contender that both runs have, in Markdown: how much each quantity changed. */
export function compareBuilds(now: BuildReport, before: BuildReport): string {
  const lines = [['tree', 'contender', ...quantities.map(({ name }) => name)]]
  for (const table of now.tables) {
    const earlier = before.tables.find(({ tree }) => tree === table.tree)
    for (const row of table.rows) {
      const other = earlier?.rows.find(({ contender }) => contender === row.contender)
      if (other === undefined || other.void !== undefined || row.void !== undefined) continue
      const changes = quantities.map(({ key }) =>
        changeOf(
          row.samples.map((sample) => sample[key]),
          other.samples.map((sample) => sample[key]),
        ),
      )
      lines.push([table.tree, row.contender, ...changes])
    }
  }
  return markdownTable(lines)
}

function changeOf(now: readonly number[], before: readonly number[]): string {
  const change = median(now) / median(before) - 1
  const text = `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`
  return isNoise(change, [spread(now), spread(before)]) ? `${text} (noise)` : text
}
