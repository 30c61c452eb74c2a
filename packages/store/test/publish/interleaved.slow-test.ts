import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRandom } from '../../../server/test/support/soak/soak-random.ts'
import { publish } from '../../src/index.ts'
import { startInterleaving, type StoreCommand } from '../support/interleave.ts'
import { type MadeBuild, makeVersion, script } from '../support/make-builds.ts'
import { newerNode } from '../support/newer-node.ts'
import {
  beforePut,
  copierOf,
  makeBlobsOld,
  type SharedStore,
  startBackends,
  type TestedBackend,
} from '../support/open-stores.ts'
import { publishWith } from '../support/publish-with.ts'
import { deltasOf, differences, faultsOf, rowsOf } from '../support/read-store.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])

const retention = { generations: 1, age: 0 }
/** Also deletes objects that were sent a moment ago. The times of a bucket are in whole seconds. */
const eager = { retention, protectedFor: -60_000, concurrency: 3 }

const node = newerNode('node24')

const { backends, stop } = await startBackends()
afterAll(stop)

let versions: readonly MadeBuild[]
let killed: MadeBuild
let next: MadeBuild
let other: MadeBuild
let all: ReadonlyMap<string, MadeBuild>

beforeAll(async () => {
  // The delta from the first to the second build is carried over, although the first build will be deleted.
  const backs = [1, 2, 2].map((number) => ({ [`assets/back-${number}.js`]: `${script}// back ${number}` }))
  versions = await Promise.all(backs.map(async (back, index) => await makeVersion(index + 1, back)))
  // The killed build shares files with the first build, which will be deleted, and has files that no build names.
  const shared = {
    ...backs[2],
    'assets/app-1.js': `${script}// one`,
    'assets/killed.js': 'export default "killed"',
  }
  ;[killed, next, other] = await Promise.all([
    makeVersion(1, { ...shared, 'page.html': 'killed' }),
    makeVersion(1, shared),
    makeVersion(5),
  ])
  all = new Map([...versions, killed, next, other].map((build) => [build.id, build]))
})

/**
 * Creates stores with three builds and the objects of a killed publish. The next publish or prune deletes the first
 * build.
 */
async function prepare(backend: TestedBackend): Promise<(shared: SharedStore) => Promise<void>> {
  const { store, where } = await backend.open()
  const environment = { ...process.env, ...backend.environment }
  const dying = beforePut(store, 'generations/', async () => await Promise.reject(new Error('killed')))
  for (const { directory } of versions) {
    if (node === undefined) await publish(directory, store)
    else await publishWith(node, { directory, where, environment })
  }
  await expect(publish(killed.directory, dying)).rejects.toThrow('killed')
  const copy = await copierOf(store)
  return async (shared) => await copy(shared.store)
}

async function expectWhole({ store }: SharedStore): Promise<void> {
  expect(await faultsOf(store)).toEqual([])
  for (const { id } of await rowsOf(store)) {
    const build = all.get(id)
    expect(build && (await differences(store, build))).toEqual([])
  }
}

interface Pair {
  readonly name: string
  readonly rounds: number
  /** Whether all objects were written long ago. */
  readonly isOld: boolean
  readonly commands: (where: string) => readonly [StoreCommand, StoreCommand]
  readonly endings: readonly string[]
}

const publishNext = (where: string, options: unknown): StoreCommand => ({
  run: 'publish',
  where,
  what: next.directory,
  options,
})

const pairs: readonly Pair[] = [
  {
    name: 'a prune without a minimum age',
    rounds: 50,
    isOld: false,
    commands: (where) => [
      publishNext(where, eager),
      { run: 'prune', where, what: retention, options: { protectedFor: -60_000, concurrency: 3 } },
    ],
    endings: ['well, well'],
  },
  {
    name: 'a prune of objects older than a day',
    rounds: 50,
    isOld: true,
    commands: (where) => [
      publishNext(where, { retention, concurrency: 3 }),
      { run: 'prune', where, what: retention, options: { concurrency: 3 } },
    ],
    endings: ['well, well'],
  },
  {
    name: 'another publish',
    rounds: 20,
    isOld: true,
    commands: (where) => [
      publishNext(where, eager),
      { run: 'publish', where, what: other.directory, options: eager },
    ],
    endings: ['well, well', 'well, SD_STORE_CONFLICT', 'SD_STORE_CONFLICT, well'],
  },
  {
    name: 'a purge of a build that shares its files',
    rounds: 20,
    isOld: false,
    commands: (where) => [
      publishNext(where, { ...eager, retention: { generations: 5 } }),
      { run: 'purge', where, what: versions[0]?.id, options: { concurrency: 3 } },
    ],
    endings: ['well, well'],
  },
  {
    name: 'a rollback',
    rounds: 20,
    isOld: true,
    commands: (where) => [publishNext(where, eager), { run: 'rollback', where }],
    endings: ['well, well', 'well, SD_STORE_CONFLICT', 'SD_STORE_CONFLICT, well'],
  },
]

describe.each(backends)(`a publish (SERVE_DIST_SEED=${seed}) to $name`, (backend) => {
  test.each(pairs)('next to $name keeps every build complete in $rounds interleavings', async (pair) => {
    const { rounds, isOld, commands, endings } = pair
    const fill = await prepare(backend)
    const random = createRandom(seed)
    const interleaving = startInterleaving(backend.environment)
    const outcomes: Record<string, number> = {}
    let deltas = 0
    try {
      for (let round = 0; round < rounds; round += 1) {
        const shared = await backend.open()
        await fill(shared)
        if (isOld) await makeBlobsOld(shared)
        const ended = (await interleaving.run(commands(shared.where), random)).join(', ')
        expect(endings, `round ${round}`).toContain(ended)
        await expectWhole(shared)
        const made = (await deltasOf(shared.store, next.id)).length
        // On a busy machine the other process may win each round.
        expect(made > 1, `deltas of round ${round}`).toBe(node !== undefined && ended.startsWith('well'))
        deltas += made
        outcomes[ended] = (outcomes[ended] ?? 0) + 1
      }
    } finally {
      interleaving.stop()
    }
    console.log(`${backend.name}, next to ${pair.name}:`, outcomes, `${deltas} deltas`)
  })
})
