import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRandom } from '../../../server/test/support/soak/soak-random.ts'
import { prune, publish } from '../../src/index.ts'
import { exploreDeletions } from '../support/deletion-model.ts'
import { type MadeBuild, makeVersion, script } from '../support/make-builds.ts'
import { newerNode } from '../support/newer-node.ts'
import { copierOf, type SharedStore, startBackends, type TestedBackend } from '../support/open-stores.ts'
import { differences, faultsOf, rowsOf } from '../support/read-store.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])
const rounds = 100
const atOnce = 4
const node = newerNode('node24') ?? process.execPath
const program = fileURLToPath(new URL('../support/delete-until-stopped.mjs', import.meta.url))

const names = ['purge', 'prune', 'publish']

/** Also deletes objects that were sent a moment ago. The times of a bucket are in whole seconds. */
const eager = { retention: { generations: 1, age: 0 }, protectedFor: -60_000, concurrency: 16 }

const { backends, stop } = await startBackends()
afterAll(stop)

let builds: readonly MadeBuild[]
let next: MadeBuild
let all: ReadonlyMap<string, MadeBuild>

beforeAll(async () => {
  // The next build has a file of the first one, which is removed.
  const shared = { 'assets/app-1.js': `${script}// one`, 'assets/back-2.js': `${script}// back 2` }
  builds = await Promise.all([makeVersion(1, shared), makeVersion(2, shared), makeVersion(3)])
  next = await makeVersion(4, shared)
  all = new Map([...builds, next].map((build) => [build.id, build]))
})

interface Ending {
  readonly outcome: string
  readonly points: number
  readonly deletions: number
}

type Interruption = 'STOP_AT' | 'KILL_AT' | 'DELAY_AT'

/** Runs a command in a process. Calls `meanwhile` while it is stopped, or after it was killed. */
async function runInterrupted(
  { environment }: TestedBackend,
  words: readonly string[],
  {
    interruption = {},
    meanwhile = async () => {},
  }: {
    readonly interruption?: Readonly<Partial<Record<Interruption, string>>>
    readonly meanwhile?: () => Promise<void>
  } = {},
): Promise<Ending | 'killed'> {
  const child = spawn(node, [program, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // With one thread, most deletions of a stopped process are queued.
    env: { ...process.env, ...environment, ...interruption, UV_THREADPOOL_SIZE: '1' },
  })
  const ended = once(child, 'exit')
  try {
    let last = ''
    for await (const line of createInterface(child.stdout)) {
      last = line
      if (line !== 'stopped') continue
      await meanwhile()
      child.kill('SIGCONT')
      child.stdin.end()
    }
    const [code] = await ended
    if (code === 0) return JSON.parse(last)
    expect(interruption.KILL_AT).toBeDefined()
    await meanwhile()
    return 'killed'
  } finally {
    child.kill('SIGKILL')
  }
}

async function prepare(backend: TestedBackend): Promise<() => Promise<SharedStore>> {
  const { store } = await backend.open()
  for (const { directory } of builds) await publish(directory, store)
  const copy = await copierOf(store)
  return async () => {
    const shared = await backend.open()
    await copy(shared.store)
    return shared
  }
}

async function expectWhole({ store }: SharedStore): Promise<void> {
  expect(await faultsOf(store)).toEqual([])
  for (const { id } of await rowsOf(store)) {
    const build = all.get(id)
    expect(build && (await differences(store, build))).toEqual([])
  }
}

// Windows has no such signals.
describe.skipIf(process.platform === 'win32')(`late deletions (SERVE_DIST_SEED=${seed})`, () => {
  describe.each(backends)('in $name', (backend) => {
    test.each<[string, Interruption]>([
      ['stopped', 'STOP_AT'],
      ['killed', 'KILL_AT'],
      ['without an answer', 'DELAY_AT'],
    ])(
      `a purge, a prune and a publish that are %s at ${rounds} points lose no blob of a kept build`,
      async (_what, name) => {
        const open = await prepare(backend)
        const options = JSON.stringify(eager)
        const commands = (where: string): readonly (readonly string[])[] => [
          ['purge', where, builds[0]?.id ?? '', options],
          ['prune', where, '', options],
          ['publish', where, next.directory, options],
        ]
        const limits: number[] = []
        for (const index of [0, 1, 2]) {
          const ending = await runInterrupted(backend, commands((await open()).where)[index] ?? [])
          if (ending === 'killed') throw new Error('it survives')
          expect(ending.outcome).toBe('well')
          limits.push(name === 'DELAY_AT' ? ending.deletions : ending.points)
        }
        const random = createRandom(seed)
        const outcomes: Record<string, number> = {}
        const left = Array.from({ length: rounds }, (_, round) => {
          const index = round % 3
          return { round, index, at: String(1 + random.integer(limits[index] ?? 1)) }
        })
        const runNext = async (): Promise<void> => {
          for (let each = left.pop(); each !== undefined; each = left.pop()) {
            const { round, index, at } = each
            const shared = await open()
            const meanwhile = async (): Promise<void> => {
              await publish(builds[0]?.directory ?? '', shared.store, { isForced: true })
              await publish(next.directory, shared.store, { ...(round % 2 === 0 && eager), isForced: true })
              await expectWhole(shared)
            }
            try {
              const words = commands(shared.where)[index] ?? []
              const ending = await runInterrupted(backend, words, { interruption: { [name]: at }, meanwhile })
              const outcome = ending === 'killed' ? ending : ending.outcome
              expect(outcome).toMatch(/^(?:well|killed|SD_STORE_CONFLICT|SD_STORE_UNAVAILABLE)$/)
              outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
              await expectWhole(shared)
              await prune(shared.store, eager.retention, eager)
              await expectWhole(shared)
            } catch (error) {
              throw new Error(`${names[index]} at ${at} of ${limits[index]}`, { cause: error })
            }
          }
        }
        await Promise.all(Array.from({ length: atOnce }, runNext))
        console.log(`${backend.name}, ${name}:`, outcomes)
      },
      // A busy machine needs minutes.
      1_200_000,
    )
  })
})

test('in every interleaving of a publish and two prunes, all kept builds are complete', () => {
  const { states, lost } = exploreDeletions([{ build: 'a', keeps: 2 }, { keeps: 1 }, { keeps: 1 }])
  expect(lost).toBeUndefined()
  expect(states).toBeGreaterThan(10_000)
})
