// What the budget of memory buys: hit rate, requests per second and resident memory with Zipf popularity;
// docs/decisions/003-memory.md draws the consequences.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadSite, type Site } from '@serve-dist/server'
import { benchDirectory } from '../serve/bench-directory.ts'
import { measure } from '../serve/measure/measure.ts'
import { placeBetween } from '../serve/report/place-between.ts'
import { showProgress } from '../serve/progress.ts'
import { readCommandLine } from '../serve/read-command-line.ts'
import { readMachine } from '../serve/report/read-machine.ts'
import { endUnreadable, readSaved } from '../serve/report/read-saved.ts'
import { runProcess } from '../serve/run-process.ts'
import type { Sample } from '../serve/measure/sample.ts'
import { serveDistWith } from '../serve/peers/serve-dist.ts'
import type { PreparedWorkload } from '../serve/load/workload.ts'
import { prepareZipf } from '../serve/load/workloads/zipf.ts'
import { type BudgetOptions, readBudgetOptions, usage } from './budget-options.ts'
import type { BudgetPoint, BudgetReport } from './budget-report.ts'
import { drawBudget } from './draw-budget.ts'
import { formatBudget } from './format-budget.ts'

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const connections = 64
const options = readCommandLine(readBudgetOptions, usage)
if (options === 'help') print(usage)
else await run(options).catch(endUnreadable)

async function run(settings: BudgetOptions): Promise<void> {
  const { save, chart, from, write } = settings
  const report = from === undefined ? await measureAll(settings) : await readSaved<BudgetReport>('from', from)
  print(formatBudget(report))
  if (save !== undefined) await writeFile(save, `${JSON.stringify(report, null, 1)}\n`)
  if (chart !== undefined) await writeFile(chart, drawBudget(report))
  if (write) await writeTable(report)
}

/** Into the documentation, as the repository formats it. */
async function writeTable(report: BudgetReport): Promise<void> {
  const { date, machine, files, connections: atOnce, seconds, points } = report
  const origin = `Measured on ${date.slice(0, 10)} with \`pnpm bench:budget\`: ${files} files, ${atOnce} connections, medians of ${points[0]?.rates.length} rounds of ${seconds} s; Node.js ${machine.node}, ${machine.system}, ${machine.cores} cores of ${machine.processor}.`
  const document = join(benchDirectory, '../docs/decisions/003-memory.md')
  const text = `${formatBudget(report)}\n\n${origin}`
  await writeFile(document, placeBetween(await readFile(document, 'utf8'), 'budget', text))
  await runProcess(join(benchDirectory, '../node_modules/.bin/oxfmt'), [document])
}

async function measureAll({ budgets, files, rounds, seconds }: BudgetOptions): Promise<BudgetReport> {
  showProgress(`a site of ${files} files, made once and kept`)
  const workload = await prepareZipf(files)
  const samples = new Map<number, Sample[]>(budgets.map((budget) => [budget, []]))
  for (let round = 1; round <= rounds; round += 1) {
    for (const budget of budgets) {
      showProgress(`round ${round} of ${rounds}: ${budget} MiB`)
      const server = await serveDistWith(['--memory-budget', `${budget}m`])
      const { sample } = await measure(server, workload, {
        connections,
        seconds,
        warmUpSeconds: 1,
        serverCores: '0',
        loadCores: '1',
        workers: 1,
      })
      samples.get(budget)?.push(sample)
    }
  }
  const points: BudgetPoint[] = []
  for (const [budget, taken] of samples) points.push(await pointOf(budget, workload, taken))
  return { date: new Date().toISOString(), machine: readMachine(), seconds, connections, files, points }
}

async function pointOf(
  budget: number,
  workload: PreparedWorkload,
  samples: readonly Sample[],
): Promise<BudgetPoint> {
  const site = await loadSite(workload.directory, { memoryBudget: budget * 1024 * 1024 })
  return {
    budget,
    bytesInMemory: site.summary.bytesInMemory,
    hitRate: hitRate(site, workload),
    rates: samples.map(({ requestsPerSecond }) => requestsPerSecond),
    p99: samples.map(({ p99Milliseconds }) => p99Milliseconds),
    peaks: samples.map(({ peakBytes }) => peakBytes),
  }
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
