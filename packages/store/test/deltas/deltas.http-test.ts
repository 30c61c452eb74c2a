import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import type { StoreBackend } from '../../src/backend.ts'
import { availableDeltaCodings } from '../../src/deltas/delta-codec.ts'
import {
  type DeltaProgress,
  listGenerations,
  prune,
  publish,
  purge,
  readDeltas,
  readLatest,
} from '../../src/index.ts'
import { deltasKey } from '../../src/deltas/deltas-document.ts'
import { blobKey } from '../../src/layout.ts'
import { type MadeBuild, makeVersion, makeVersions } from '../support/make-builds.ts'
import { type NewerNode, newerNode } from '../support/newer-node.ts'
import { makeBlobsOld, type SharedStore, startBackends } from '../support/open-stores.ts'
import { publishWith, tryPublishWith } from '../support/publish-with.ts'
import {
  deltasOf,
  differences,
  faultsOf,
  keyOf,
  keysIn,
  manifestOf,
  unnamedIn,
} from '../support/read-store.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])
const node = newerNode('node24') ?? ''
const run = promisify(execFile)

const { backends, stop } = await startBackends()
afterAll(stop)

const [first, second, third] = await makeVersions()

async function scriptOf(build: MadeBuild): Promise<string> {
  const script = (await manifestOf(build.directory)).files.find(({ path }) => /app-\d\.js$/.test(path))
  if (script === undefined) throw new Error('each build has the script')
  return script.sha256
}

/** Publishes builds to a folder with a Node.js version that can encode deltas. */
async function storeOf(...builds: readonly MadeBuild[]): Promise<SharedStore> {
  const [folder] = backends
  if (folder === undefined) throw new Error('a folder is always there')
  const shared = await folder.open()
  for (const { directory } of builds) await publishWith(node, { directory, where: shared.where })
  return shared
}

async function deltaKeysOf(store: StoreBackend, id: string): Promise<readonly string[]> {
  return (await deltasOf(store, id)).map(({ sha256 }) => blobKey(sha256))
}

describe.skipIf(node === '')('the delta codec', () => {
  test.each<[NewerNode, string]>([
    ['node22', 'dcz'],
    ['node24', 'dcz,dcb'],
  ])(
    `encodes in %s with %s and decodes to the same bytes (SERVE_DIST_SEED=${seed})`,
    async (name, codings) => {
      const program = fileURLToPath(new URL('../support/check-delta-codec.mjs', import.meta.url))
      const { stdout } = await run(newerNode(name) ?? '', [program, String(seed)])
      expect(stdout.trim()).toBe(codings)
    },
  )
})

test.skipIf(node === '')('a publish reports the progress of deltas', async () => {
  const { where } = await storeOf(first, second)
  const program = fileURLToPath(new URL('../support/publish-once.mjs', import.meta.url))
  const { stderr } = await run(node, [program, third.directory, where])
  const lines = stderr.trim().split('\n')
  const steps = lines.map((line): DeltaProgress => JSON.parse(line))
  const { files } = await manifestOf(third.directory)
  const size = files.find(({ path }) => path.endsWith('app-3.js'))?.size ?? 0
  const allBytes = 2 * size
  expect(steps).toEqual([0, 1, 2].map((deltas) => ({ deltas, bytes: deltas * size, allDeltas: 2, allBytes })))
})

describe.skipIf(node === '').each(backends)('a publish to $name with deltas', (backend) => {
  const environment = { ...process.env, ...backend.environment }

  test('encodes deltas against the latest builds and reports the download of returning visitors', async () => {
    const { store, where } = await backend.open()
    const publishOnce = async ({ directory }: MadeBuild): Promise<Awaited<ReturnType<typeof publishWith>>> =>
      await publishWith(node, { directory, where, environment })
    const cold = await publishOnce(first)
    expect(cold.deltas).toMatchObject({ codings: ['dcz', 'dcb'], made: 0, leftOut: 0 })
    await publishOnce(second)
    const summary = await publishOnce(third)
    expect(summary.deltas).toMatchObject({ made: 2, reused: 0, tooLarge: 0, isThere: false })
    expect(summary.warnings).toEqual([])

    const { files } = (await readDeltas(store, third.id)) ?? {}
    const deltas = files?.get(await scriptOf(third))
    expect([...(files?.keys() ?? [])]).toEqual([await scriptOf(third)])
    expect(new Set(deltas?.keys())).toEqual(new Set([await scriptOf(first), await scriptOf(second)]))
    const sizes = Object.values(deltas?.get(await scriptOf(second)) ?? {}).map(({ size }) => size)
    const [change] = summary.download?.changes ?? []
    expect(change).toMatchObject({ path: 'assets/app-3.js', delta: Math.min(...sizes) })
    const saved = (change?.bytes ?? 0) - (change?.delta ?? 0)
    expect(saved).toBeGreaterThan(1000)
    expect(summary.download?.bytesWithDeltas).toBe((summary.download?.bytes ?? 0) - saved)
    const latest = await readLatest(store)
    expect([latest?.build.buildId, latest?.replaced?.buildId]).toEqual([third.id, second.id])
    expect(latest?.download).toEqual(summary.download)
    for (const build of [first, second, third]) expect(await differences(store, build)).toEqual([])
    expect(await faultsOf(store)).toEqual([])
    expect(await unnamedIn(store)).toEqual([])
  })
})

describe.skipIf(node === '')('a delta', () => {
  test('starts with the digest of the dictionary', async () => {
    const { store, folder } = await storeOf(first, second)
    const { dcz, dcb } =
      (await readDeltas(store, second.id))?.files.get(await scriptOf(second))?.get(await scriptOf(first)) ??
      {}
    const old = await readFile(join(first.directory, 'assets/app-1.js'))
    const digest = createHash('sha256').update(old).digest('hex')
    const read = async (sha256 = ''): Promise<string> =>
      (await readFile(join(folder, blobKey(sha256)))).toString('hex')
    expect(await read(dcz?.sha256)).toMatch(new RegExp(`^5e2a4d1820000000${digest}28b52ffd`))
    expect(await read(dcb?.sha256)).toMatch(new RegExp(`^ff444342${digest}`))
  })

  test('is reused for unchanged files', async () => {
    const { store, where } = await storeOf(first, second)
    const page = await makeVersion(2, { 'about.html': '<!doctype html>' })
    const summary = await publishWith(node, { directory: page.directory, where })
    expect(summary.deltas).toMatchObject({ made: 0, reused: 1 })
    expect(await deltaKeysOf(store, page.id)).toEqual(await deltaKeysOf(store, second.id))
    await purge(store, second.id)
    expect(await faultsOf(store)).toEqual([])
    expect(await deltaKeysOf(store, page.id)).toHaveLength(2)
  })

  test('is skipped and counted after the time budget', async () => {
    const { store, where } = await storeOf(first)
    const { directory, id } = second
    const summary = await publishWith(node, { directory, where }, { deltaBudget: 0 })
    expect(summary.deltas).toMatchObject({ made: 0, leftOut: 1 })
    expect((await readDeltas(store, id))?.files.size).toBe(0)
    expect(summary.download).not.toHaveProperty('bytesWithDeltas')
  })

  test('is ended and counted if it takes longer than the time budget', async () => {
    const words = Array.from({ length: 20_000 }, (_, n) => createHash('md5').update(`${n}`).digest('hex'))
    // Parts of the file in another order. Their encoding takes seconds.
    const parts = words.map((_, n) => (words[(n * 7919) % words.length] ?? '').slice(n % 9))
    const earlier = await makeVersion(1, { 'assets/app-1.js': parts.join('').repeat(4) })
    const later = await makeVersion(2, { 'assets/app-2.js': words.join('') })
    const { where } = await storeOf(earlier)
    const summary = await publishWith(node, { directory: later.directory, where }, { deltaBudget: 700 })
    expect(summary.deltas).toMatchObject({ made: 0, tooLarge: 0, leftOut: 1 })
    expect(summary.warnings).toEqual([])
  })

  test('uses only zstd if the Node.js version supports only zstd', async () => {
    const { store, where } = await storeOf(first)
    const summary = await publishWith(newerNode('node22') ?? '', { directory: second.directory, where })
    expect(summary.deltas).toMatchObject({ codings: ['dcz'], made: 1 })
    expect(await deltaKeysOf(store, second.id)).toHaveLength(1)
  })

  test('is neither encoded nor announced if deltas are disabled', async () => {
    const { store, where } = await storeOf(first)
    const summary = await publishWith(node, { directory: second.directory, where }, { makesDeltas: false })
    expect(summary).not.toHaveProperty('deltas')
    expect(await readDeltas(store, second.id)).toBeUndefined()
  })

  test('is counted but not encoded by a dry run', async () => {
    const { store, where } = await storeOf(first)
    const before = await keysIn(store, '')
    const summary = await publishWith(node, { directory: second.directory, where }, { isDryRun: true })
    expect(summary).toMatchObject({ isDryRun: true, deltas: { made: 1 } })
    expect(await keysIn(store, '')).toEqual(before)
  })

  test('stays for a published build, and is added to a build without it', async () => {
    const { store, where } = await storeOf(first, second, first)
    const again = await publishWith(node, { directory: second.directory, where })
    expect(again.deltas).toMatchObject({ isThere: true, made: 0 })
    expect(await deltaKeysOf(store, second.id)).toHaveLength(2)

    const late = await storeOf(first)
    await publish(second.directory, late.store, { makesDeltas: false })
    expect(await publishWith(node, { directory: second.directory, where: late.where })).toMatchObject({
      wasCurrent: true,
      deltas: { isThere: false, made: 1 },
    })
    expect(await deltaKeysOf(late.store, second.id)).toHaveLength(2)
  })

  test('is skipped if the dictionary is missing or corrupted, and the build is published', async () => {
    const { store, where, folder } = await storeOf(first)
    await writeFile(join(folder, blobKey(await scriptOf(first))), 'spoilt')
    const summary = await publishWith(node, { directory: second.directory, where })
    expect(summary).toMatchObject({ id: second.id, deltas: { made: 0 } })
    expect(summary.warnings).toEqual([
      expect.stringContaining('assets/app-2.js: the earlier file is missing or damaged'),
    ])
    expect((await readDeltas(store, second.id))?.files.size).toBe(0)
  })

  test('is not encoded from a file that changed after it was sent', async () => {
    const changed = await makeVersion(4)
    const { store, where } = await storeOf(first)
    const file = join(changed.directory, 'assets/app-4.js')
    const text = await readFile(file, 'utf8')
    await store.put(blobKey(await scriptOf(changed)), Buffer.from(text))
    await writeFile(file, text.replace('answer0', 'answerO'))
    const outcome = await tryPublishWith(node, { directory: changed.directory, where })
    expect(outcome).toMatchObject({ code: 'SD_MANIFEST_MISMATCH' })
    expect(await faultsOf(store)).toEqual([])
  })

  test('is deleted with its build, and before it the deltas of a killed publish', async () => {
    const shared = await storeOf(first, second, third)
    const { store } = shared
    const keys = await deltaKeysOf(store, second.id)
    await store.put(`deltas/${'f'.repeat(32)}.json`, Buffer.from('{"version":1,"files":{}}'))
    expect((await listGenerations(store))[1]?.ownBytes).toBeGreaterThan(0)
    await makeBlobsOld(shared)
    await prune(store, { generations: 0, age: 0 }, { protectedFor: -60_000 })
    expect(await keysIn(store, 'deltas/')).toEqual([await keyOf(store, deltasKey(third.id))])
    const left = await keysIn(store, 'blobs/')
    expect(left.filter((key) => keys.includes(key))).toEqual([])
    expect(await faultsOf(store)).toEqual([])
    expect(await unnamedIn(store)).toEqual([])
  })

  test('blocks deletions of blobs and a purge if its document is unreadable', async () => {
    const { store } = await storeOf(first, second, third)
    const before = await keysIn(store, 'blobs/')
    await store.put(await keyOf(store, deltasKey(second.id)), Buffer.from('{"version":2}'))
    const { warnings } = await prune(store, {}, { protectedFor: -60_000 })
    expect(warnings).toEqual([expect.stringContaining('no blob was pruned')])
    expect(await keysIn(store, 'blobs/')).toEqual(before)
    await expect(purge(store, first.id)).rejects.toMatchObject({ code: 'SD_STORE_INVALID' })
  })
})

test.skipIf(availableDeltaCodings().length > 0)(
  'a Node.js version without dictionary support writes no deltas and no document',
  async () => {
    const { store } = await storeOf()
    await publish(first.directory, store)
    const summary = await publish(second.directory, store)
    expect(summary.deltas).toMatchObject({ codings: [], made: 0 })
    expect(await keysIn(store, 'deltas/')).toEqual([])
  },
)
