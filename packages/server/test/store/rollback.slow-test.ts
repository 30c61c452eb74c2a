import { randomBytes } from 'node:crypto'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { openStore, publish, readGeneration, rollback } from '@serve-dist/store'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openLiveSite } from '../../src/live/open-live-site.ts'
import { entityTagOf } from '../../src/protocol/entity-tag.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { makeStore, type StoreFixture } from '../support/start-from-store.ts'
import { hosts } from '../support/start-hosts.ts'
import { endCommand } from '../support/stop-command.ts'
import { startSwapClients, type SwapClients } from '../support/swap-clients.ts'
import { hasNative } from '../support/tested-engine.ts'

/** The number of rounds. Each has a publish and a rollback. */
const turns = 10
const film = randomBytes(20_000_000)

interface TwoBuilds {
  readonly place: StoreFixture
  /** The paths that clients request, and the content of each entity tag. */
  readonly builds: Parameters<typeof startSwapClients>[1]
  /** Makes the other build current. Returns its ID. */
  readonly change: () => Promise<string>
}

/** Creates a store with two builds with their own hashed files. The first is current. */
async function twoBuilds(): Promise<TwoBuilds> {
  const place = await makeStore()
  const store = await openStore(place.store)
  const directories: string[] = []
  const answers = new Map<string, ReturnType<TwoBuilds['builds']['known']>>()
  const paths = new Set<string>()
  for (const build of [1, 2]) {
    const ownFilm = Buffer.from(film)
    for (let offset = 0; offset < film.length; offset += 65_536) ownFilm.write(`build ${build};`, offset)
    const files = {
      'index.html': `<!doctype html><title>Build ${build}</title>`,
      'app.js': compressibleText(4000, `build${build}`),
      [`assets/entry-${build}.js`]: compressibleText(3000, `entry${build}`),
      [`assets/image-${build}.png`]: ownFilm.subarray(0, 200_000),
      'film.mp4': ownFilm,
    }
    const directory = await buildFixture(files, {
      isHashed: (path) => path.startsWith('assets/'),
      durable: false,
    })
    directories.push(directory)
    const { id } = await publish(directory, store)
    for (const { path, size, sha256, variants } of (await readGeneration(store, id)).files) {
      paths.add(path)
      for (const answer of [{ coding: 'identity', size, sha256 }, ...variants]) {
        answers.set(`${path} ${entityTagOf(answer.sha256)}`, { build, ...answer })
      }
    }
  }
  await rollback(store)
  let changes = 0
  return {
    place,
    builds: {
      paths: [...paths],
      newest: () => Math.min(2, 1 + changes),
      known: (path, entityTag) => answers.get(`${path} ${entityTag}`),
    },
    async change() {
      changes += 1
      if (changes % 2 === 0) return (await rollback(store)).id
      return (await publish(directories[1] ?? '', store)).id
    },
  }
}

async function finish(how: string, clients: SwapClients, kinds: number): Promise<void> {
  await clients.finish()
  console.log(`${how}: ${2 * turns} changes under ${JSON.stringify(clients.answers)}`)
  expect.soft(clients.failures, how).toEqual([])
  expect.soft(Object.keys(clients.answers), how).toHaveLength(kinds)
}

const ways: readonly (readonly [how: string, flags: readonly string[]])[] = [
  ['of one process', []],
  ['of one process, streamed', ['--memory-budget', '50']],
  ['of two workers', ['--workers', '2']],
  ['of two workers, streamed', ['--workers', '2', '--memory-budget', '50']],
]
const nativeWays: typeof ways = [
  ['of the native engine', ['--engine', 'native', '--workers', '2']],
  ['of the native engine, streamed', ['--engine', 'native', '--memory-budget', '50']],
]

describe.skipIf(process.platform !== 'linux')('publish and rollback under full load', () => {
  test.each(hasNative ? [...ways, ...nativeWays] : ways)(
    'cause no failed or mixed response %s',
    async (how, flags) => {
      const { place, builds, change } = await twoBuilds()
      const { store, storeCache } = place
      const command = spawnCommand(['--store', store, '--store-cache', storeCache, '--port', '0', ...flags])
      const { port } = await command.listening
      const clients = startSwapClients(port, builds)
      for (let turn = 0; turn < 2 * turns; turn += 1) {
        const said = command.complaints().length
        const id = await change()
        await vi.waitFor(
          () => expect(command.complaints().slice(said)).toContain(`now serving build ${shortId(id)}`),
          { timeout: 30_000, interval: 5 },
        )
        clients.noteServed(1)
      }
      await finish(how, clients, 5)
      expect(command.complaints()).not.toMatch(/refused|stuck|ended/)
      await endCommand(command)
    },
    // A busy machine needs minutes.
    900_000,
  )

  test('cause no failed or mixed response of any host', async () => {
    const { place, builds, change } = await twoBuilds()
    const live = await openLiveSite({ ...place, largestBody: 100_000 })
    onTestFinished(() => live.close())
    const started = await Promise.all(
      Object.entries(hosts).map(async ([how, startHost]) => ({
        how,
        clients: startSwapClients(await startHost(live), builds),
      })),
    )
    for (let turn = 0; turn < 2 * turns; turn += 1) {
      const id = await change()
      await vi.waitFor(() => expect(live.current.buildId).toBe(id), { timeout: 30_000, interval: 5 })
      for (const { clients } of started) clients.noteServed(1)
    }
    for (const { how, clients } of started) await finish(how, clients, 5)
  }, 900_000)
})
