// Which way of sending a body is the fastest for which size; docs/decisions/003-memory.md draws the consequences.
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { choose } from '../serve/choose.ts'
import { measure, type MeasureOptions } from '../serve/measure/measure.ts'
import { peerEnvironment } from '../serve/peers/peer-program.ts'
import { positive } from '../serve/positive.ts'
import { readCommandLine } from '../serve/read-command-line.ts'
import { readMachine } from '../serve/report/read-machine.ts'
import type { FoundServer } from '../serve/peers/server-definition.ts'
import { median } from '../serve/report/statistics.ts'
import { drawCurves } from './draw-curves.ts'
import { evictFiles } from './evict-files.ts'
import type { BodiesReport, Point } from './report.ts'
import { type Way, ways } from './ways.ts'
import { writeBodyFiles } from './write-body-files.ts'

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const everyWay = ways.map(({ name }) => name).join(',')
const usage = `bench:bodies [options]

  --nodes a,b          programs of Node (default: the one that runs this)
  --sizes a,b          sizes of bodies in KiB (default: 4,16,64,256,1024,4096)
  --connections a,b    connections at once (default: 10,256)
  --caches a,b         the page cache: hot, cold (default: both)
  --ways a,b           ways of sending (default: ${everyWay})
  --rounds n           rounds, the ways taking turns (default: 3)
  --seconds s          seconds of each load (default: 2)
  --save file          save the report
  --chart file         draw it as an SVG
  --from file          measure nothing: draw what was saved
`
const list = (text: string): string[] => text.split(',').filter(Boolean)
const { values, chosen, caches, sizes, connections, rounds, seconds } = readCommandLine((args) => {
  const parsed = parseArgs({
    args,
    options: {
      nodes: { type: 'string', default: process.execPath },
      sizes: { type: 'string', default: '4,16,64,256,1024,4096' },
      connections: { type: 'string', default: '10,256' },
      caches: { type: 'string', default: 'hot,cold' },
      ways: { type: 'string', default: everyWay },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '2' },
      save: { type: 'string' },
      chart: { type: 'string' },
      from: { type: 'string' },
    },
  })
  return {
    values: parsed.values,
    chosen: choose(ways, list(parsed.values.ways)),
    caches: choose([{ name: 'hot' }, { name: 'cold' }], list(parsed.values.caches)),
    sizes: list(parsed.values.sizes).map((size) => positive('sizes', size)),
    connections: list(parsed.values.connections).map((count) => positive('connections', count)),
    rounds: positive('rounds', parsed.values.rounds),
    seconds: positive('seconds', parsed.values.seconds),
  }
}, usage)

const report: BodiesReport =
  values.from === undefined ? await measureAll() : JSON.parse(await readFile(values.from, 'utf8'))
if (values.save !== undefined) await writeFile(values.save, `${JSON.stringify(report, null, 1)}\n`)
if (values.chart !== undefined) await writeFile(values.chart, drawCurves(report))

async function measureAll(): Promise<BodiesReport> {
  const points: Point[] = []
  for (const node of list(values.nodes)) {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    for (const { name: cache } of caches) {
      for (const atOnce of connections) {
        const measured: Point[] = []
        for (const size of sizes) {
          measured.push(...(await sweep({ node, version, cache, connections: atOnce, size })))
        }
        print(tableOf(measured))
        points.push(...measured)
      }
    }
  }
  return { date: new Date().toISOString(), machine: readMachine(), seconds, points }
}

interface Place extends Omit<Point, 'way' | 'rates' | 'cpu' | 'p99'> {
  readonly version: string
}

/** Every way for one size, by turns. */
async function sweep({ node, version, ...place }: Place): Promise<readonly Point[]> {
  const { cache, size } = place
  const workload = await writeBodyFiles(size * 1024)
  const swept = chosen.map(({ name }): Point => ({
    node: version,
    ...place,
    way: name,
    rates: [],
    cpu: [],
    p99: [],
  }))
  const options: MeasureOptions = {
    connections: place.connections,
    seconds,
    warmUpSeconds: 1,
    serverCores: '0',
    loadCores: '1',
    workers: 1,
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, way] of chosen.entries()) {
      const evicting = cache === 'cold' ? evictFiles(workload.directory, '1') : undefined
      try {
        const { sample } = await measure(serverOf(node, version, way), workload, options)
        swept[index]?.rates.push(sample.requestsPerSecond)
        swept[index]?.cpu.push(sample.cpuMicrosecondsPerRequest)
        swept[index]?.p99.push(sample.p99Milliseconds)
      } finally {
        await evicting?.stop()
      }
    }
  }
  return swept
}

function serverOf(node: string, version: string, way: Way): FoundServer {
  return {
    version,
    launch: async (input) => ({
      command: node,
      arguments: [fileURLToPath(new URL('body-server.js', import.meta.url))],
      environment: { ...peerEnvironment(input), BENCH_WAY: way.name },
    }),
  }
}

/** Requests a second, a row for each size; the fastest in bold. */
function tableOf(rows: readonly Point[]): string {
  const [first] = rows
  if (first === undefined) return ''
  const rowSizes = [...new Set(rows.map(({ size }) => size))]
  const lines = rowSizes.map((size) => {
    const rates = chosen.map(({ name }) =>
      median(rows.find((p) => p.size === size && p.way === name)?.rates ?? []),
    )
    const fastest = Math.max(...rates)
    const cells = rates.map((rate) => (rate === fastest ? `**${rate.toFixed(0)}**` : rate.toFixed(0)))
    return `| ${size} KiB | ${cells.join(' | ')} |`
  })
  const head = `| ${first.node}, ${first.cache}, ${first.connections} connections | ${chosen.map(({ name }) => name).join(' | ')} |`
  return [`\n${head}`, `| --- |${' --- |'.repeat(chosen.length)}`, ...lines].join('\n')
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
