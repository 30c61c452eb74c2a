// What a boot takes: CPU time, wall time to the first answer, resident memory beyond the bodies.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadSite } from '@serve-dist/server'
import { benchDirectory } from '../serve/bench-directory.ts'
import { positive } from '../serve/positive.ts'
import { readCommandLine } from '../serve/read-command-line.ts'
import { median } from '../serve/report/statistics.ts'
import { type Boot, bootOnce } from './boot-once.ts'
import { prepareFolders } from './boot-folders.ts'

const usage = `bench:boot [options]

  --files n       files in each folder (default: 10000)
  --rounds n      rounds, the contenders taking turns (default: 5)
  --nodes a,b     programs of Node (default: the one that runs this)
  --before dir    another checkout, built: its command takes turns with this one's
`
const options = readCommandLine((args) => {
  const { values } = parseArgs({
    args,
    options: {
      files: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '5' },
      nodes: { type: 'string', default: process.execPath },
      before: { type: 'string' },
    },
  })
  const { files, rounds, nodes, before } = values
  return {
    files: positive('files', files),
    rounds: positive('rounds', rounds),
    nodes: nodes.split(','),
    before,
  }
}, usage)

interface Contender {
  readonly node: string
  readonly title: string
  readonly parameters: readonly string[]
  /** Bytes of bodies in memory. */
  readonly bodies: number
  readonly boots: Boot[]
}

const bareServer = `const server = require('node:http').createServer((_, response) => response.end())
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port))`
const checkouts = [
  ...(options.before === undefined ? [] : [{ title: 'before: ', root: options.before }]),
  { title: '', root: join(benchDirectory, '..') },
]
const folders = await prepareFolders(options.files)
const contenders: Contender[] = []
for (const node of options.nodes) {
  contenders.push({
    node,
    title: 'node -e, nothing to serve',
    parameters: ['-e', bareServer],
    bodies: 0,
    boots: [],
  })
  for (const { title, directory } of folders) {
    const { bytesInMemory: bodies } = (await loadSite(directory)).summary
    for (const checkout of checkouts) {
      const command = join(checkout.root, 'packages/server/bin/serve-dist.js')
      const parameters = [command, directory, '--port', '0']
      contenders.push({ node, title: checkout.title + title, parameters, bodies, boots: [] })
    }
  }
}

for (let round = 0; round < options.rounds; round += 1) {
  for (const { node, parameters, boots } of contenders) boots.push(await bootOnce(node, parameters))
}

print('| Node | what | CPU ms | first answer ms | RSS beyond bodies MB | highest |')
print('| --- | --- | --- | --- | --- | --- |')
for (const { node, title, bodies, boots } of contenders) {
  const of = (key: keyof Boot): number => median(boots.map((boot) => boot[key]))
  const cells = [
    node,
    title,
    of('cpuMilliseconds').toFixed(0),
    of('wallMilliseconds').toFixed(0),
    ((of('residentBytes') - bodies) / 1e6).toFixed(0),
    ((of('peakBytes') - bodies) / 1e6).toFixed(0),
  ]
  print(`| ${cells.join(' | ')} |`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
