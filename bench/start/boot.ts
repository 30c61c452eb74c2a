// Measures the start with 10,000 files, and a process that only lists, opens and reads them. The result is the CPU time of
// all threads until the listening line, with the files in the page cache.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { precompress } from '@serve-dist/precompress'
import { Command } from 'commander'
import { markdownTable } from 'markdown-table'
import { prepareTree } from '../build/tree.ts'
import { ownCommand } from '../serve/bench-directory.ts'
import { parsePositiveInteger } from '../serve/option-values.ts'
import { print } from '../serve/progress.ts'
import { median } from '../serve/statistics.ts'
import { measureStarts, ratioOf } from './measure-start.ts'

/** The limit of the CPU time for a build with variants, as a multiple of the process that only reads it. */
const mark = 3

interface Options {
  readonly node: string
  readonly command: string
  readonly rounds: number
  readonly gate?: boolean
}

const options = new Command('bench:boot')
  .option('--node <path>', 'program of Node', process.execPath)
  .option('--command <path>', 'bin/serve-dist.js of a checkout', ownCommand)
  .option('--rounds <n>', 'rounds', parsePositiveInteger, 7)
  .option('--gate', `exit code 1 above ${mark} times the reading of a build with its variants`)
  .parse()
  .opts<Options>()

const builds = [
  { name: 'boot-compressed', title: '40,000: a build, three variants each', settings: {}, hasMark: true },
  {
    name: 'boot-plain',
    title: '10,000: a build without variants',
    settings: { codings: [] },
    hasMark: false,
  },
]
const reader = fileURLToPath(new URL('read-folder.js', import.meta.url))
const bareServer =
  "require('node:http').createServer((_, response) => response.end()).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1'))"

const lines = [
  ['files, of 2 kB each', 'bodies', 'reading alone', 'CPU ms', '× reading', '× without the starts'],
]
for (const { name, title, settings, hasMark } of builds) {
  const folder = await prepareTree({
    name,
    fill: async (empty) => {
      await fill(empty)
      await precompress(empty, settings)
    },
  })
  const start = [options.command, folder, '--port', '0']
  const words = [[reader], ['-e', bareServer], [reader, folder], start, [...start, '--memory-budget', '0']]
  const commands = words.map((each) => () => each)
  // The first round loads the files into the page cache. It is not counted.
  await measureStarts(options.node, commands, 1)
  const measured = await measureStarts(options.node, commands, options.rounds)
  const [bareRead = [], bareServe = [], reading = [], held = [], streamed = []] = measured.map((costs) =>
    costs.map(({ cpu }) => cpu),
  )
  for (const [bodies, boot] of [['held', held] as const, ['streamed', streamed] as const]) {
    const whole = ratioOf(boot, reading)
    const alone = ratioOf(less(boot, bareServe), less(reading, bareRead))
    const times = [reading, boot].map((values) => median(values).toFixed(0))
    lines.push([title, bodies, ...times, whole.toFixed(2), alone.toFixed(2)])
    if (options.gate === true && hasMark && whole > mark) process.exitCode = 1
  }
}
print(markdownTable(lines, { align: ['l', 'l', 'r', 'r', 'r', 'r'] }))
print(`\nMedians of ${options.rounds} rounds. The mark is ${mark} × reading for a build with its variants.`)

/** Subtracts the cost of an idle process, round by round. */
function less(costs: readonly number[], starting: readonly number[]): number[] {
  return costs.map((cost, round) => cost - (starting[round] ?? Number.NaN))
}

/** Writes scripts of made-up words into 100 folders, and a page. */
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
