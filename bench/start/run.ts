// What a start costs: CPU time of all threads until the listening line, of the command and of bare `node:http`
// servers, each in a process of its own, in turns.
import { execFileSync } from 'node:child_process'
import { join, relative } from 'node:path'
import { Command } from 'commander'
import { benchDirectory } from '../serve/bench-directory.ts'
import { buildSpa } from '../serve/load/page-load.ts'
import { list, positive } from '../serve/option-values.ts'
import { median, spread } from '../serve/statistics.ts'
import { measureStart, print, ratioOf } from './measure-start.ts'

/** At most so many times the CPU time of a bare server. */
const mark = 1.8

interface Options {
  readonly nodes: readonly string[]
  readonly commands: readonly string[]
  readonly folder?: string
  readonly rounds: number
  readonly gate?: boolean
}

const options = new Command('bench:start')
  .option('--nodes <paths>', 'programs of Node, separated by commas', list, [process.execPath])
  .option('--commands <paths>', 'bin/serve-dist.js of one checkout or of several, which take turns', list, [
    join(benchDirectory, '../packages/server/bin/serve-dist.js'),
  ])
  .option('--folder <path>', 'a build to serve (default: examples/spa, built anew)')
  .option('--rounds <n>', 'rounds, the contenders taking turns', positive, 15)
  .option('--gate', `exit code 1 above ${mark} times a bare server`)
  .parse()
  .opts<Options>()

const folder = options.folder ?? (await buildSpa())
const answer = `createServer((_, response) => response.end())
  .listen(0, '127.0.0.1', function () { console.log('http://127.0.0.1:' + this.address().port) })`
const contenders = [
  { title: 'bare server, require', parameters: ['-e', `require('node:http').${answer}`] },
  // On Node 24 this import also loads undici, for the export `WebSocket`, and doubles the CPU time.
  {
    title: 'bare server, import',
    parameters: ['--input-type=module', '-e', `import { createServer } from 'node:http'; ${answer}`],
  },
  ...options.commands.map((command) => ({
    title: relative(join(benchDirectory, '..'), command),
    parameters: [command, folder, '--port', '0'],
  })),
]

print('| Node | what | CPU ms | ± | × require | × import |')
print('| ---- | ---- | -----: | -: | --------: | -------: |')
for (const node of options.nodes) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  const costs = contenders.map((): number[] => [])
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [index, { parameters }] of contenders.entries()) {
      costs[index]?.push((await measureStart(node, parameters)).cpu)
    }
  }
  for (const [index, { title }] of contenders.entries()) {
    const times = costs[index] ?? []
    const ratios = [0, 1].map((bare) => ratioOf(times, costs[bare] ?? []))
    const cells = [
      version,
      title,
      median(times).toFixed(1),
      `${(spread(times) * 100).toFixed(0)} %`,
      ...ratios.map((ratio) => ratio.toFixed(2)),
    ]
    print(`| ${cells.join(' | ')} |`)
    if (options.gate === true && index > 1 && Math.max(...ratios) > mark) process.exitCode = 1
  }
}
print(`\nMedians of ${options.rounds} rounds. The mark is ${mark} × either bare server.`)
