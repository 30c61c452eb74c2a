// What a boot takes: CPU time, wall time to the first answer, resident memory beyond the bodies.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadSite } from '@serve-dist/server'
import { benchDirectory } from '../serve/bench-directory.ts'
import { median } from '../serve/statistics.ts'
import { type Boot, bootOnce } from './boot-once.ts'
import { prepareFolders } from './boot-folders.ts'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    /** Programs of Node. */
    nodes: { type: 'string', default: process.execPath },
    /** Another checkout, built: its command takes turns with this one's. */
    before: { type: 'string' },
  },
})

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
  ...(values.before === undefined ? [] : [{ title: 'before: ', root: values.before }]),
  { title: '', root: join(benchDirectory, '..') },
]
const folders = await prepareFolders(Number(values.files))
const contenders: Contender[] = []
for (const node of values.nodes.split(',')) {
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

for (let round = 0; round < Number(values.rounds); round += 1) {
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
