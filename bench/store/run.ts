// What a store of builds costs: publishing 1,000 files cold and with one changed, and booting from the store with an
// empty cache and a full one, beside booting from the folder.
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { precompress } from '@serve-dist/precompress'
import { openStore, publish, type PublishSummary } from '@serve-dist/store'
import { Command } from 'commander'
import { prepareTree } from '../build/tree.ts'
import { benchDirectory } from '../serve/bench-directory.ts'
import { cutScript } from '../serve/load/fixtures.ts'
import { list, positive } from '../serve/option-values.ts'
import { median } from '../serve/statistics.ts'
import { measureStart, print } from '../start/measure-start.ts'

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
    'stores, separated by commas; a run writes below them, and leaves what it wrote to a bucket',
    list,
    [join(scratch, 'store')],
  )
  .option('--rounds <n>', 'rounds, each in an empty store', positive, 5)
  .option('--node <path>', 'program of Node that serves', process.execPath)
  .option(
    '--command <path>',
    'bin/serve-dist.js of a checkout',
    join(benchDirectory, '../packages/server/bin/serve-dist.js'),
  )
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
  print('| store | what | files | blobs | MB | requests | ms |')
  print('| ----- | ---- | ----: | ----: | -: | -------: | -: |')
  for (const place of options.stores) await measurePublishing(place)
  print('\n| from | CPU ms | ms until the listening line |')
  print('| ---- | -----: | ---------------------------: |')
  await measureBoots()
  print(`\nMedians of ${options.rounds} rounds.`)
} finally {
  await rm(scratch, { recursive: true })
}

/** The store of one round. */
function storeOf(place: string, round: number): string {
  return `${place}/run-${run}-${round}`
}

async function measurePublishing(place: string): Promise<void> {
  const summaries: [PublishSummary[], PublishSummary[], PublishSummary[]] = [[], [], []]
  for (let round = 0; round < options.rounds; round += 1) {
    const store = await openStore(storeOf(place, round))
    for (const [index, build] of [first, second, second].entries()) {
      summaries[index]?.push(await publish(build, store))
    }
  }
  for (const [index, what] of ['cold', 'one file changed', 'nothing changed'].entries()) {
    const [any, ...others] = summaries[index] ?? []
    if (any === undefined) continue
    const { new: sent, requests } = any
    const time = median([any, ...others].map(({ milliseconds }) => milliseconds))
    const cells = [sent.files, sent.blobs, (sent.bytes / 1e6).toFixed(2), requests, time.toFixed(0)]
    print(`| ${[kindOf(place), what, ...cells].join(' | ')} |`)
  }
}

async function measureBoots(): Promise<void> {
  const rows = [
    { title: 'the folder', flags: () => [second] },
    ...options.stores.flatMap((place) =>
      [true, false].map((isCold) => ({
        title: `${kindOf(place)}, ${isCold ? 'empty' : 'full'} cache`,
        flags: (round: number) => ['--store', storeOf(place, round), '--store-cache', cacheOf(place, round)],
      })),
    ),
  ]
  const starts = rows.map((): { cpu: number; wall: number }[] => [])
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [index, { flags }] of rows.entries()) {
      const parameters = [options.command, ...flags(round), '--port', '0']
      starts[index]?.push(await measureStart(options.node, parameters))
    }
  }
  for (const [index, { title }] of rows.entries()) {
    const measured = starts[index] ?? []
    const figures = (['cpu', 'wall'] as const).map((what) => median(measured.map((each) => each[what])))
    print(`| ${[title, ...figures.map((figure) => figure.toFixed(0))].join(' | ')} |`)
  }
}

/** Empty until a round has booted from it once. */
function cacheOf(place: string, round: number): string {
  return join(scratch, `cache-${options.stores.indexOf(place)}-${round}`)
}

function kindOf(place: string): string {
  return place.startsWith('s3://') ? 'S3' : 'folder store'
}
