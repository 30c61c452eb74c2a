import { Agent } from 'node:http'
import { isoSeconds } from '@serve-dist/foundation/text/iso-seconds'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import type { KeptList, Manifest, ManifestFile } from '@serve-dist/manifest'
import { expect, test } from 'vitest'
import { selectBuilds } from '../../src/carry/select-builds.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { carryFrom } from '../support/carry-from.ts'
import { fetchWhole } from '../support/fetch-whole.ts'
import { createRandom } from '../support/soak/soak-random.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])
const hour = 3_600_000
const generations = 5
/** The age of the oldest visitors, in releases. */
const oldest = 9

const options = { isHashed: (path: string) => path.startsWith('assets/') }

/** Returns the chunks of a release. The first changes with each release, the others less often. */
function chunksOf(release: number): readonly string[] {
  return Array.from(
    { length: 12 },
    (_each, chunk) => `assets/c${chunk}-${Math.floor(release / (chunk + 1))}.js`,
  )
}

/** Returns the chunks of a release and of the releases that a site keeps. */
function answeredBy(release: number): ReadonlySet<string> {
  const first = Math.max(0, release - generations)
  return new Set(Array.from({ length: release - first + 1 }, (_each, age) => chunksOf(release - age)).flat())
}

function manifestOf(release: number): Manifest {
  const lastModified = isoSeconds(release * hour)
  const described = {
    mediaType: 'text/javascript',
    size: 1,
    cache: 'immutable',
    lastModified,
    variants: [],
  } as const
  const files = chunksOf(release).map((path): ManifestFile =>
    Object.assign({ path, sha256: sha256Of(path) }, described),
  )
  const buildId = String(release).padStart(32, '0')
  return { version: 1, buildId, base: '/', appType: 'spa', assetsDirectory: 'assets', lastModified, files }
}

/** Yields navigations of visitors of random age: the chunk that a visitor's page requests. */
function* navigations(release: number, count: number): Generator<string> {
  const random = createRandom(seed + release)
  for (let made = 0; made < count; made += 1) {
    const page = Math.max(0, release - random.integer(oldest + 1))
    yield chunksOf(page)[random.integer(12)] ?? ''
  }
}

test('a million navigations find the chunks of five kept builds, and no older ones', async () => {
  const releases = 200
  let list: KeptList = { version: 1, builds: [] }
  let found = 0
  for (let release = 0; release < releases; release += 1) {
    const manifest = manifestOf(release)
    const { buildId: id, files } = manifest
    const now = release * hour
    const kept = await selectBuilds(list, manifest, { retention: { generations, age: 0 }, now })
    list = { version: 1, builds: [{ id, files }, ...kept] }
    expect(kept.slice(0, 1).map(({ superseded }) => superseded)).toEqual(
      release === 0 ? [] : [isoSeconds(now)],
    )
    const answered = answeredBy(release)
    const paths = new Set(list.builds.flatMap((build) => build.files.map(({ path }) => path)))
    expect(paths).toEqual(answered)
    for (const path of navigations(release, 1_000_000 / releases)) if (paths.has(path)) found += 1
  }
  expect(found).toBeGreaterThan(600_000)
})

test('a thousand navigations get these answers from real servers', async () => {
  const releases = 20
  const agent = new Agent({ keepAlive: true })
  let server: StartedServer | undefined
  let missing = 0
  for (let release = 0; release < releases; release += 1) {
    const files = Object.fromEntries(chunksOf(release).map((path) => [path, path]))
    const directory = await buildFixture({ 'index.html': String(release), ...files }, options)
    if (server !== undefined) await carryFrom(server.port, directory, { retention: { generations, age: 0 } })
    await server?.close()
    server = await startServer(directory)
    const { port } = server
    const answered = answeredBy(release)
    for (const path of navigations(release, 1000 / releases)) {
      const wanted = { port, scheme: 'http', path, acceptEncoding: 'br', agent } as const
      const { status, sha256, field } = await fetchWhole(wanted)
      const detail = status === 200 ? sha256 : field('Cache-Control')
      const expected = answered.has(path) ? [200, sha256Of(path)] : [404, 'no-store']
      expect([path, status, detail]).toEqual([path, ...expected])
      if (status === 404) missing += 1
    }
  }
  agent.destroy()
  expect(missing).toBeGreaterThan(10)
})
