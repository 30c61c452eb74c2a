import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRandom } from '../../../server/test/support/soak/soak-random.ts'
import { publish } from '../../src/index.ts'
import { type MadeBuild, makeVersion } from '../support/make-builds.ts'
import { newerNode } from '../support/newer-node.ts'
import { copierOf, type SharedStore, startBackends, type TestedBackend } from '../support/open-stores.ts'
import { differences, faultsOf, historyOf, rowsOf, unnamedIn } from '../support/read-store.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])
const kills = 100
const node = newerNode('node24') ?? process.execPath
const atOnce = 4

/** The next publish deletes all builds except the last two, including recent blobs. */
const options = { retention: { generations: 1, age: 0 }, protectedFor: -60_000, concurrency: 3 }

const { backends, stop } = await startBackends()
afterAll(stop)

let builds: readonly MadeBuild[]
let before: MadeBuild
let after: MadeBuild

beforeAll(async () => {
  const versions = [1, 2, 3].map(async (version) => await makeVersion(version))
  ;[before, after] = await Promise.all([makeVersion(3), makeVersion(4)])
  builds = await Promise.all(versions)
})

/** Publishes in a separate process until it ends or is killed. Returns the number of kill points if it survives. */
async function publishMortally(
  { environment }: TestedBackend,
  where: string,
  death: Readonly<Record<string, string>>,
): Promise<number> {
  const program = fileURLToPath(new URL('../support/publish-until-killed.mjs', import.meta.url))
  const child = spawn(node, [program, after.directory, where, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment, ...death },
  })
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const isKilled = Object.keys(death).length > 0
  expect(isKilled ? signal : code).toBe(isKilled ? 'SIGKILL' : 0)
  return Number(output)
}

async function prepare(backend: TestedBackend): Promise<() => Promise<SharedStore>> {
  const { store } = await backend.open()
  for (const { directory } of builds) await publish(directory, store, options)
  const fill = await copierOf(store)
  return async () => {
    const shared = await backend.open()
    await fill(shared.store)
    return shared
  }
}

async function killAndFinish(
  { backend, open }: { readonly backend: TestedBackend; readonly open: () => Promise<SharedStore> },
  death: Readonly<Record<string, string>>,
): Promise<string> {
  const { store, where } = await open()
  await publishMortally(backend, where, death)

  expect(await faultsOf(store), 'after the kill').toEqual([])
  expect(await differences(store, before)).toEqual([])
  const current = (await rowsOf(store))[0]?.id
  expect([before.id, after.id]).toContain(current)
  expect(current === after.id ? await differences(store, after) : []).toEqual([])

  const isDeleting = (await historyOf(store)).deletions !== undefined
  await publish(after.directory, store, options)
  expect(await faultsOf(store), 'after the next publish').toEqual([])
  expect((await rowsOf(store)).map(({ id }) => id)).toEqual([after.id, before.id])
  expect(await differences(store, before)).toEqual([])
  expect(await differences(store, after)).toEqual([])
  expect(await unnamedIn(store)).toEqual([])
  return isDeleting ? 'while deleting' : current === after.id ? 'after the swap' : 'before the swap'
}

// Windows cannot kill a process with a signal.
describe.skipIf(process.platform === 'win32')(`a killed publish (SERVE_DIST_SEED=${seed})`, () => {
  test.each(backends)(
    'leaves the previous build complete in $name, and the next publish finishes it',
    async (backend) => {
      const open = await prepare(backend)
      const points = await publishMortally(backend, (await open()).where, {})
      const random = createRandom(seed)
      const outcomes: Record<string, number> = {}
      const deaths = Array.from({ length: kills }, () => ({ KILL_AT: String(random.integer(points)) }))
      const killNext = async (): Promise<void> => {
        for (let death = deaths.pop(); death !== undefined; death = deaths.pop()) {
          const outcome = await killAndFinish({ backend, open }, death).catch((error: unknown) => {
            throw new Error(`killed at point ${death?.KILL_AT} of ${points}`, { cause: error })
          })
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
        }
      }
      await Promise.all(Array.from({ length: atOnce }, killNext))
      console.log(`${backend.name}, ${points} points:`, outcomes)
      expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(['before the swap', 'while deleting']))
    },
    // A busy machine needs minutes.
    1_200_000,
  )

  test('may hold the lock of a folder', async () => {
    const folder = backends.find(({ name }) => name === 'a folder')
    if (folder === undefined) throw new Error('a folder is always there')
    const open = await prepare(folder)
    expect(await killAndFinish({ backend: folder, open }, { KILL_IN_LOCK: '1' })).toBe('before the swap')
  })
})
