// Measures a store of builds: publishes 1,000 files, then one changed file. Starts from the folder and from the store,
// with an empty and a full cache.
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { precompress } from '@serve-dist/precompress'
import { openStore, publish, type PublishSummary } from '@serve-dist/store'
import { Command } from 'commander'
import { markdownTable } from 'markdown-table'
import { prepareTree } from '../build/tree.ts'
import { ownCommand } from '../serve/bench-directory.ts'
import { cutScript } from '../serve/load/fixtures.ts'
import { parseList, parsePositiveInteger } from '../serve/option-values.ts'
import { print } from '../serve/progress.ts'
import { median } from '../serve/statistics.ts'
import { measureStarts } from '../start/measure-start.ts'

interface Options {
  readonly stores: readonly string[]
  readonly rounds: number
  readonly node: string
  readonly command: string
}

const scratch = await mkdtemp(join(tmpdir(), 'serve-dist-bench-'))
const options = new Command('bench:store')
  .option(
    '--stores <places>',
    'stores, separated by commas; a run writes below them, and leaves its builds in a bucket',
    parseList,
    [join(scratch, 'store')],
  )
  .option('--rounds <n>', 'rounds, each in an empty store', parsePositiveInteger, 5)
  .option('--node <path>', 'program of Node that serves', process.execPath)
  .option('--command <path>', 'bin/serve-dist.js of a checkout', ownCommand)
  .parse()
  .opts<Options>()

const files = 1000
const settings = { isHashed: (path: string) => path.startsWith('assets/') }
const first = await prepareTree({
  name: 'store-first',
  fill: async (folder) => {
    await mkdir(join(folder, 'assets'))
    await writeFile(join(folder, 'index.html'), '<!doctype html>')
    for (let index = 1; index < files; index += 1) {
      await writeFile(join(folder, `assets/chunk-${index}.js`), await cutScript(index * 7919, 20_000))
    }
    await precompress(folder, settings)
  },
})
const second = await prepareTree({
  name: 'store-second',
  fill: async (folder) => {
    await cp(first, folder, { recursive: true })
    await writeFile(join(folder, 'assets/chunk-1.js'), await cutScript(1_000_000, 20_000))
    await precompress(folder, settings)
  },
})

const run = Date.now()
try {
  const published: string[][] = []
  for (const place of options.stores) published.push(...(await measurePublishing(place)))
  printTable(['store', 'build', 'files', 'blobs', 'MB', 'requests', 'ms'], published)
  printTable(['start from', 'CPU ms', 'ms until the listening line'], await measureBoots())
  print(`Medians of ${options.rounds} rounds.`)
} finally {
  await rm(scratch, { recursive: true })
}

/** Returns the store of a round. */
function storeOf(place: string, round: number): string {
  return `${place}/run-${run}-${round}`
}

async function measurePublishing(place: string): Promise<string[][]> {
  const summaries: PublishSummary[][] = [[], [], []]
  for (let round = 0; round < options.rounds; round += 1) {
    const store = await openStore(storeOf(place, round))
    for (const [index, build] of [first, second, second].entries()) {
      summaries[index]?.push(await publish(build, store))
    }
  }
  return ['cold', 'one file changed', 'nothing changed'].map((what, index) => {
    const all = summaries[index] ?? []
    const { files: count = 0, blobs = 0, bytes = 0 } = all[0]?.new ?? {}
    const time = median(all.map(({ milliseconds }) => milliseconds))
    const figures = [count, blobs, (bytes / 1e6).toFixed(2), all[0]?.requests, time.toFixed(0)].map(String)
    return [kindOf(place), what].concat(figures)
  })
}

async function measureBoots(): Promise<string[][]> {
  // The cache is empty until the first start of a round.
  const starts = options.stores.flatMap((place, index) =>
    ['empty', 'full'].map((state) => ({
      title: `${kindOf(place)}, ${state} cache`,
      words: (round: number) => [
        '--store',
        storeOf(place, round),
        '--store-cache',
        join(scratch, `cache-${index}-${round}`),
      ],
    })),
  )
  const rows = [{ title: 'the folder', words: () => [second] }, ...starts]
  const commands = rows.map((row) => (round: number) => {
    return [options.command, ...row.words(round), '--port', '0']
  })
  const costs = await measureStarts(options.node, commands, options.rounds)
  return rows.map(({ title }, index) => {
    const measured = costs[index] ?? []
    const figures = (['cpu', 'wall'] as const).map((what) => median(measured.map((each) => each[what])))
    return [title].concat(figures.map((figure) => figure.toFixed(0)))
  })
}

function kindOf(place: string): string {
  return place.startsWith('s3://') ? 'S3' : 'folder store'
}

function printTable(headings: string[], rows: string[][]): void {
  print(
    `${markdownTable([headings, ...rows], { align: headings.map((_, index) => (index < 2 ? 'l' : 'r')) })}\n`,
  )
}
