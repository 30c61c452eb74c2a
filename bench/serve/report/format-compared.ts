import { markdownTable } from 'markdown-table'
import { isBusy, medianOf } from './ratios.ts'
import type { Report, Row } from './report.ts'

/** Servers of the page docs/compared.md, in the order of its lines. */
const servers = ['serve-dist-native', 'serve-dist-node', 'sirv', 'static-web-server', 'nginx', 'caddy']

/** Formats the table of docs/compared.md. */
export function formatCompared({ rows }: Report): string {
  const headings = ['server', 'bundles, req/s', '304, req/s', '1 MB, req/s', 'memory, MB']
  const lines = servers.map((server) => {
    const find = (workload: string): Row | undefined =>
      rows.find((row) => row.server === server && row.workload === workload)
    const bundles = find('bundles50k')
    return [
      `${server} ${bundles?.version ?? ''}`,
      formatRate(bundles),
      formatRate(find('not-modified-tag')),
      formatRate(find('script-1024k')),
      bundles === undefined ? '–' : (medianOf(bundles, 'heldBytes') / 1e6).toFixed(0),
    ]
  })
  return markdownTable([headings, ...lines], { align: ['l', 'r', 'r', 'r', 'r'] })
}

/** Formats requests per second with three significant digits; `*` if the load generator was the limit. */
function formatRate(row: Row | undefined): string {
  if (row === undefined || row.void !== undefined) return '–'
  const rate = Number(medianOf(row, 'requestsPerSecond').toPrecision(3))
  return `${rate.toLocaleString('en-US')}${isBusy(row) ? '' : '*'}`
}
