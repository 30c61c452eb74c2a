// What the budget of memory buys: hit rate, requests per second and resident memory with Zipf popularity.
import { parseArgs } from 'node:util'
import { loadSite, type Site } from '@serve-dist/server'
import { measure } from '../serve/measure.ts'
import { positive } from '../serve/positive.ts'
import { readCommandLine } from '../serve/read-command-line.ts'
import { serveDistWith } from '../serve/serve-dist.ts'
import { median } from '../serve/statistics.ts'
import type { PreparedWorkload } from '../serve/workload.ts'
import { zipf } from '../serve/workloads/zipf.ts'

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const usage = `bench:budget [options]

  --budgets a,b    budgets in MiB (default: 0,4,8,16,32,64,128)
  --rounds n       rounds, the budgets taking turns (default: 3)
  --seconds s      seconds of each load (default: 3)
`
const { budgets, rounds, seconds } = readCommandLine((args) => {
  const { values } = parseArgs({
    args,
    options: {
      budgets: { type: 'string', default: '0,4,8,16,32,64,128' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '3' },
    },
  })
  return {
    budgets: values.budgets.split(',').map(Number),
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
  }
}, usage)
const workload = await zipf.prepare()
const rates = new Map(budgets.map((budget) => [budget, [] as number[]]))
const peaks = new Map(budgets.map((budget) => [budget, [] as number[]]))

for (let round = 0; round < rounds; round += 1) {
  for (const budget of budgets) {
    const server = await serveDistWith(['--memory-budget', `${budget}m`])
    const { sample } = await measure(server, workload, {
      connections: 64,
      seconds,
      warmUpSeconds: 1,
      serverCores: '0',
      loadCores: '1',
      workers: 1,
    })
    rates.get(budget)?.push(sample.requestsPerSecond)
    peaks.get(budget)?.push(sample.peakBytes)
  }
}

print('| budget | bodies in memory | answers from memory | requests per second | peak memory |')
print('| --- | --- | --- | --- | --- |')
for (const budget of budgets) {
  const site = await loadSite(workload.directory, { memoryBudget: budget * 1024 * 1024 })
  const cells = [
    `${budget} MiB`,
    `${(site.summary.bytesInMemory / 1e6).toFixed(1)} MB`,
    `${(hitRate(site, workload) * 100).toFixed(1)} %`,
    median(rates.get(budget) ?? []).toFixed(0),
    `${(median(peaks.get(budget) ?? []) / 1e6).toFixed(0)} MB`,
  ]
  print(`| ${cells.join(' | ')} |`)
}

/** The share of the workload's requests whose answer's body is in memory. */
function hitRate(site: Site, { requests, sequence }: PreparedWorkload): number {
  const isHeld = requests.map(({ target, accept }) => {
    const resource = site.table.get(target)
    if (resource?.kind !== 'resource') throw new Error(`${target} is not in the table`)
    const sent = resource.representations.find(
      ({ coding }) => coding !== 'identity' && accept.includes(coding),
    )
    return (sent ?? resource.identity).bytes.body !== undefined
  })
  return sequence.filter((index) => isHeld[index]).length / sequence.length
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
