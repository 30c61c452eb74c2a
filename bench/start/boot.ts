// What the boot of 10,000 files costs beside listing, opening and reading them alone: CPU time of all threads until the
// listening line, each in a process of its own, in turns, with the files in the system's memory.
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { precompress, type PrecompressOptions } from '@serve-dist/precompress'
import { Command } from 'commander'
import { prepareTree } from '../build/tree.ts'
import { benchDirectory } from '../serve/bench-directory.ts'
import { positive } from '../serve/option-values.ts'
import { median } from '../serve/statistics.ts'
import { measureStart, print, ratioOf } from './measure-start.ts'

/** Of a build with its variants: at most so many times the process that only reads it. */
const mark = 3

interface Options {
  readonly node: string
  readonly command: string
  readonly rounds: number
  readonly gate?: boolean
}

const options = new Command('bench:boot')
  .option('--node <path>', 'program of Node', process.execPath)
  .option(
    '--command <path>',
    'bin/serve-dist.js of a checkout',
    join(benchDirectory, '../packages/server/bin/serve-dist.js'),
  )
  .option('--rounds <n>', 'rounds, the contenders taking turns', positive, 7)
  .option('--gate', `exit code 1 above ${mark} times the reading of a build with its variants`)
  .parse()
  .opts<Options>()

const withManifest = async (name: string, settings: PrecompressOptions): Promise<string> =>
  await prepareTree({
    name,
    fill: async (folder) => {
      await fill(folder)
      await precompress(folder, settings)
    },
  })

const compressed = await withManifest('boot-compressed', {})
const folders = [
  { title: '40,000: a build, three variants each', folder: compressed, hasManifest: true },
  {
    title: '10,000: a build without variants',
    folder: await withManifest('boot-plain', { codings: [] }),
    hasManifest: true,
  },
  {
    title: '10,000: no manifest',
    folder: await prepareTree({ name: 'boot-folder', fill }),
    hasManifest: false,
  },
  {
    title: '40,000: no manifest, three variants each',
    hasManifest: false,
    folder: await prepareTree({
      name: 'boot-lost',
      fill: async (folder) => {
        await cp(compressed, folder, { recursive: true })
        await rm(join(folder, '.serve-dist'), { recursive: true })
      },
    }),
  },
]

const reader = fileURLToPath(new URL('read-folder.js', import.meta.url))
const starts = {
  reading: [reader],
  serving: [
    '-e',
    "require('node:http').createServer((_, response) => response.end()).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1'))",
  ],
}

print('| files, of 2 kB each | bodies | reading alone | CPU ms | × reading | × without the starts |')
print('| ------------------- | ------ | ------------: | -----: | --------: | -------------------: |')
for (const { title, folder, hasManifest } of folders) {
  const flags = ['--port', '0', ...(hasManifest ? [] : ['--force'])]
  const contenders = [
    starts.reading,
    starts.serving,
    [reader, folder],
    [options.command, folder, ...flags],
    [options.command, folder, ...flags, '--memory-budget', '0'],
  ]
  const costs = contenders.map((): number[] => [])
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const [index, parameters] of contenders.entries()) {
      const { cpu } = await measureStart(options.node, parameters)
      // The first round brings the files into memory.
      if (round > 0) costs[index]?.push(cpu)
    }
  }
  const [bareReader = [], bareServer = [], reading = [], held = [], streamed = []] = costs
  for (const [bodies, boot] of [
    ['held', held],
    ['streamed', streamed],
  ] as const) {
    const whole = ratioOf(boot, reading)
    const alone = ratioOf(less(boot, bareServer), less(reading, bareReader))
    const times = [reading, boot].map((values) => median(values).toFixed(0))
    print(`| ${[title, bodies, ...times, whole.toFixed(2), alone.toFixed(2)].join(' | ')} |`)
    if (options.gate === true && folder === compressed && whole > mark) process.exitCode = 1
  }
}
print(`\nMedians of ${options.rounds} rounds. The mark is ${mark} × reading for a build with its variants.`)

/** The costs of each round without those of a process that starts and does nothing. */
function less(costs: readonly number[], starting: readonly number[]): number[] {
  return costs.map((cost, round) => cost - (starting[round] ?? Number.NaN))
}

/** Scripts of made-up words, as many in each of 100 folders, and a page. */
async function fill(folder: string): Promise<void> {
  let seed = 1
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 16) % below
  }
  const words = Array.from({ length: 2000 }, () => (next(2 ** 16) * 2 ** 16 + next(2 ** 16)).toString(36))
  await writeFile(join(folder, 'index.html'), '<!doctype html>')
  for (let index = 0; index < 10_000; index += 1) {
    const parent = join(folder, 'assets', String(index % 100))
    if (index < 100) await mkdir(parent, { recursive: true })
    const text = Array.from({ length: 400 }, () => words[next(words.length)]).join(' ')
    await writeFile(join(parent, `chunk-${index}.js`), text.slice(0, 2048))
  }
}
