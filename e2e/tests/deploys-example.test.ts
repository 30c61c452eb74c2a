import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { newerNode } from '../../packages/store/test/support/newer-node.ts'
import { chromiumPath } from '../src/launch-chromium.ts'
import { runToEnd } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const cwd = fileURLToPath(new URL('../../examples/deploys', import.meta.url))

const kinds: readonly (readonly [string, readonly string[]])[] = [
  // chromium-is-here.test.ts says so where there is none.
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
    ])
    const statuses = Array.from(output.matchAll(/^ {2}(\d{3}) {2}\S+/gm), ([, status]) => status)
    expect(statuses.filter((status) => status !== '200')).toEqual(['404'])
    expect(left).toEqual([])
    checkBytes(output, kind === 'Chromium', node === node24)
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

function checkBytes(output: string, isInBrowser: boolean, mustMakeDeltas: boolean) {
  const visits = Array.from(output.matchAll(/^│ \d+ .*$/gm), ([row]) => visitIn(row))
  if (!isInBrowser) {
    expect(visits).toEqual([])
    return
  }
  const makesDeltas = mustMakeDeltas || !/^deltas: none: Node v.* cannot make them/m.test(output)
  // Files from the cache and files loaded: three have the same name in each release.
  const counts = [
    [0, 8],
    [3, 5],
    [3, 5],
  ]
  expect(visits.map(({ release, deltas, counted }) => [release, deltas, counted])).toEqual(
    counts.flatMap((counted, index) =>
      (makesDeltas ? ['without', 'with'] : ['without']).map((deltas) => [index + 1, deltas, counted]),
    ),
  )
  for (const { release, deltas, body, transfer } of visits) {
    expect(transfer).toBeGreaterThan(body)
    const without = visits.find((other) => other.release === release)?.body ?? Number.NaN
    if (release > 1 && deltas === 'with') expect(body).toBeLessThan(without / 2)
    else expect(body).toBe(without)
  }
}

function visitIn(row: string) {
  const [, , release, deltas, cached, loaded, body, transfer] = row.split('│').map((cell) => cell.trim())
  return {
    release: Number(release),
    deltas: deltas?.replaceAll("'", ''),
    counted: [Number(cached), Number(loaded)],
    body: Number(body),
    transfer: Number(transfer),
  }
}
