import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { newerNode } from '../../packages/store/test/support/newer-node.ts'
import { chromiumPath } from '../src/launch-chromium.ts'
import { runToEnd } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const cwd = fileURLToPath(new URL('../../examples/deploys', import.meta.url))

const kinds: readonly (readonly [string, readonly string[]])[] = [
  // chromium-is-here.test.ts reports a missing Chromium.
  ...(chromiumPath === undefined ? [] : [['Chromium', []] as const]),
  ['plain fetches', ['--no-browser']],
]

const node24 = newerNode('node24')
const nodes = [['this Node', process.execPath] as const, ...(node24 ? [['Node 24', node24] as const] : [])]

describe.each(nodes)('examples/deploys on %s', (_, node) => {
  test.each(kinds)('keeps tabs of %s working, and cleans up', async (kind, args) => {
    const { exitCode, output, left } = await runExample(node, args)
    expect([exitCode, output]).toEqual([0, expect.stringContaining(`its visitors are ${kind}`)])
    expect(Array.from(output.matchAll(/it shows "(.*)"/g), ([, shown]) => shown)).toEqual([
      'Today, release 1',
      'Bread of release 1',
      'Today, release 2',
      'Cakes of release 1',
      'Bread of release 2',
      'Today, release 3',
      'Today, release 2',
      'Cakes of release 3',
      'Today, release 1',
      'Bread of release 1',
      'Today, release 2',
    ])
    const statuses = Array.from(output.matchAll(/^ {2}(\d{3}) {2}\S+/gm), ([, status]) => status)
    expect(statuses.filter((status) => status !== '200')).toEqual(['404'])
    expect(output).toMatch(/^ {2}carried 4 files of 1 earlier build from .*\n {4}deltas: /m)
    expect(left).toEqual([])
    const makesDeltas = node === node24 || !/^deltas: none: Node v.* cannot make them/m.test(output)
    expect(visitsIn(output)).toEqual(kind === 'Chromium' ? expectedVisits(makesDeltas) : [])
  })
})

async function runExample(node: string, args: readonly string[]) {
  const temporary = await temporaryFolder()
  const environment = {
    TMPDIR: temporary,
    ...(chromiumPath !== undefined && { CHROMIUM_PATH: chromiumPath }),
  }
  const end = await runToEnd([node, 'deploys.mjs'], { args, cwd, environment })
  return { ...end, left: await readdir(temporary) }
}

/** Parses the rows of the output table, and tells whether a body is less than half of that without deltas. */
function visitsIn(output: string) {
  const rows = Array.from(output.matchAll(/^│ \d+ .*$/gm), ([row]) => {
    const [, , release, deltas, cached, loaded, body, transfer] = row.split('│').map((cell) => cell.trim())
    const files = { cached: Number(cached), loaded: Number(loaded) }
    return { release: Number(release), deltas, ...files, body: Number(body), transfer: Number(transfer) }
  })
  return rows.map(({ release, deltas, cached, loaded, body, transfer }) => {
    const without = rows.find((row) => row.release === release)?.body ?? Number.NaN
    const sizes = { isWhole: body === without, isHalved: body < without / 2, hasHeads: transfer > body }
    return Object.assign(sizes, { release, deltas, cached, loaded })
  })
}

/** Three files have the same name in each release. */
function expectedVisits(makesDeltas: boolean) {
  return [1, 2, 3].flatMap((release) => {
    const files = release === 1 ? { cached: 0, loaded: 8 } : { cached: 3, loaded: 5 }
    const without = { release, ...files, deltas: "'without'", isWhole: true, isHalved: false, hasHeads: true }
    const paysLess = release > 1
    const withDeltas = { ...without, deltas: "'with'", isWhole: !paysLess, isHalved: paysLess }
    return makesDeltas ? [without, withDeltas] : [without]
  })
}
