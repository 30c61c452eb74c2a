// Measures the CPU time of all threads until the listening line, of the command and of bare `node:http` servers.
import { execFileSync } from 'node:child_process'
import { join, relative } from 'node:path'
import { Command } from 'commander'
import { markdownTable } from 'markdown-table'
import { benchDirectory, ownCommand } from '../serve/bench-directory.ts'
import { buildSpa } from '../serve/load/page-load.ts'
import { parseList, parsePositiveInteger } from '../serve/option-values.ts'
import { print } from '../serve/progress.ts'
import { median, spread } from '../serve/statistics.ts'
import { measureStarts, ratioOf } from './measure-start.ts'

/** The limit of the CPU time, as a multiple of a bare server's. */
const mark = 1.8

interface Options {
  readonly nodes: readonly string[]
  readonly commands: readonly string[]
  readonly folder?: string
  readonly rounds: number
  readonly gate?: boolean
}

const options = new Command('bench:start')
  .option('--nodes <paths>', 'programs of Node, separated by commas', parseList, [process.execPath])
  .option('--commands <paths>', 'bin/serve-dist.js of checkouts, which take turns', parseList, [ownCommand])
  .option('--folder <path>', 'build to serve (default: a new build of examples/spa)')
  .option('--rounds <n>', 'rounds', parsePositiveInteger, 15)
  .option('--gate', `exit code 1 above ${mark} times a bare server`)
  .parse()
  .opts<Options>()

const folder = options.folder ?? (await buildSpa())
const answer = `createServer((_, response) => response.end())
  .listen(0, '127.0.0.1', function () { console.log('http://127.0.0.1:' + this.address().port) })`
const contenders = [
  { title: 'bare server, require', words: ['-e', `require('node:http').${answer}`] },
  // On Node 24, this import also loads undici, for the export `WebSocket`, and doubles the CPU time.
  {
    title: 'bare server, import',
    words: ['--input-type=module', '-e', `import { createServer } from 'node:http'; ${answer}`],
  },
  ...options.commands.map((command) => ({
    title: relative(join(benchDirectory, '..'), command),
    words: [command, folder, '--port', '0'],
  })),
]

const lines = [['Node', 'command', 'CPU ms', '±', '× require', '× import']]
for (const node of options.nodes) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  const commands = contenders.map(
    ({ words }) =>
      () =>
        words,
  )
  const costs = (await measureStarts(node, commands, options.rounds)).map((all) => all.map(({ cpu }) => cpu))
  for (const [index, { title }] of contenders.entries()) {
    const times = costs[index] ?? []
    const ratios = [0, 1].map((bare) => ratioOf(times, costs[bare] ?? []))
    const figures = [median(times).toFixed(1), `${(spread(times) * 100).toFixed(0)} %`]
    lines.push([version, title, ...figures, ...ratios.map((ratio) => ratio.toFixed(2))])
    if (options.gate === true && index > 1 && Math.max(...ratios) > mark) process.exitCode = 1
  }
}
print(markdownTable(lines, { align: ['l', 'l', 'r', 'r', 'r', 'r'] }))
print(`\nMedians of ${options.rounds} rounds. The mark is ${mark} × either bare server.`)
