import { rm, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RuntimeEnvironment } from '@serve-dist/manifest'
import { listGenerations, openStore, publish, purge } from '@serve-dist/store'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { s3Environment } from '../../../store/test/support/start-s3.ts'
import { startFaultyS3 } from '../../../store/test/support/start-faulty-s3.ts'
import { buildFixture, type FixtureFiles } from '../support/build-fixture.ts'
import { readChildProcessIds } from '../support/read-child-process-ids.ts'
import { countConnectionsTo } from '../support/count-connections-to.ts'
import { freePort } from '../support/free-port.ts'
import { parseMetrics } from '../support/parse-metrics.ts'
import { publishFiles, publishWithMissingFile } from '../support/publish-files.ts'
import { rawRequest } from '../support/raw-request.ts'
import { replaceWorker } from '../support/replace-worker.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { endCommand } from '../support/stop-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { twoProcessFlags } from '../support/two-process-flags.ts'

const faulty = await startFaultyS3()
afterEach(() => void vi.unstubAllEnvs())

/** Starting Node is slow on a busy machine. */
const patience = { timeout: 20_000, interval: 50 }
const large = Buffer.alloc(300_000, 'abcdefg')
const first = { 'index.html': 'first', 'assets/large-1.bin': large }
const second = { 'index.html': 'second', 'assets/entry-2.js': 'second()' }

const needy: RuntimeEnvironment = {
  path: 'serve-dist-env.js',
  prefix: '',
  variables: { NOWHERE_SET: { type: 'string', required: true } },
}

/** Returns the distinct responses of 16 new connections. They reach all workers. */
async function distinctAnswers(port: number, target: string): Promise<ReadonlySet<string>> {
  const answers = Array.from({ length: 16 }, async () => {
    const { status, body } = await rawRequest(port, { target })
    return `${status} ${body.toString()}`
  })
  return new Set(await Promise.all(answers))
}

async function expectPage({ listening }: RunningCommand, page: string): Promise<void> {
  const { port } = await listening
  await vi.waitFor(
    async () => expect(await distinctAnswers(port, '/')).toEqual(new Set([`200 ${page}`])),
    patience,
  )
}

async function said({ complaints }: RunningCommand, text: string, times = 1): Promise<void> {
  await vi.waitFor(() => expect(complaints().split(text).length).toBeGreaterThan(times), patience)
}

async function makeFolder(): Promise<{
  readonly store: string
  readonly folder: string
  readonly words: string[]
}> {
  const folder = await temporaryDirectory()
  const store = join(folder, 'store')
  await publishFiles(store, first)
  await deployTo(store, second)
  const words = ['--store', store, '--store-cache', join(folder, 'cache'), ...(await twoProcessFlags())]
  return { store, folder, words }
}

const isHashed = (path: string): boolean => path.startsWith('assets/')

/** Publishes a build with a known folder of hashed assets. */
async function deployTo(store: string, files: FixtureFiles, environment?: RuntimeEnvironment): Promise<void> {
  const given = { appType: 'spa', assetsDirectory: 'assets', isHashed } as const
  const directory = await buildFixture(files, { ...given, ...(environment && { environment }) })
  await publish(directory, await openStore(store))
}

describe.skipIf(process.platform !== 'linux')('serve-dist --store --workers', () => {
  describe.runIf(faulty !== undefined)('of a store in S3', () => {
    if (faulty === undefined) return
    const { s3, proxy } = faulty
    const environment = s3Environment(proxy.endpoint, s3.root)
    const port = Number(new URL(proxy.endpoint).port)

    async function makeStore(): Promise<string> {
      for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
      const store = `s3://${await s3.bucket()}/site`
      await publishFiles(store, first)
      await publishFiles(store, second)
      return store
    }

    async function start(
      store: string,
      flags: readonly string[],
      nodeOptions: readonly string[] = [],
    ): Promise<RunningCommand> {
      const cache = join(await temporaryDirectory(), 'cache')
      const words = `--store ${store} --store-cache ${cache} --memory-budget 1000`.split(' ')
      const all = [...words, ...(await twoProcessFlags()), ...flags]
      const command = spawnCommand(all, { env: environment, nodeOptions })
      await command.listening
      return command
    }

    test('requests it only from the primary process, and only once for each blob', async () => {
      const store = await makeStore()
      const before = proxy.seen.length
      const command = await start(store, [])
      const { port: own } = await command.listening
      expect(await distinctAnswers(own, '/assets/large-1.bin')).toEqual(new Set([`200 ${large.toString()}`]))
      await publishFiles(store, { 'index.html': 'third' })
      await expectPage(command, 'third')
      const workers = await readChildProcessIds(command.child.pid)
      expect(await Promise.all(workers.map((id) => countConnectionsTo(port, id)))).toEqual([0, 0])
      expect(await countConnectionsTo(port, command.child.pid ?? 0)).toBeGreaterThan(0)
      const blobs = proxy.seen
        .slice(before)
        .filter(({ method, path }) => method === 'GET' && path.includes('/blobs/'))
      expect(new Set(blobs.map(({ path }) => path)).size).toBe(blobs.length)
      await endCommand(command)
    })

    test('replaces workers and serves cached files while the store is unreachable', async () => {
      const ops = await freePort()
      const flags = ['--ops', `127.0.0.1:${ops}`]
      const command = await start(await makeStore(), flags)
      const { port: own } = await command.listening
      const readiness = async (): Promise<unknown> => {
        const { status, body } = await rawRequest(ops, { target: '/readyz' })
        return { code: status, ...JSON.parse(body.toString()) }
      }
      const metric = async (name: string): Promise<number | undefined> => {
        const { body } = await rawRequest(ops, { target: '/metrics' })
        const found = [...parseMetrics(body.toString())].filter(([key]) =>
          key.startsWith(`serve_dist_store_${name}{`),
        )
        expect(found).toHaveLength(1)
        return found[0]?.[1]
      }
      expect(await readiness()).toMatchObject({ code: 200, store: 'reachable' })
      expect(await metric('reachable')).toBe(1)
      const blobs = await metric('fetched_blobs_total')
      proxy.fail(() => ({ reset: 'before' }))
      await said(command, 'The server continues with the cached builds.')
      expect(await readiness()).toMatchObject({
        code: 200,
        store: expect.stringMatching(/^unreachable since \d{4}-.*: s3:/),
      })
      expect(await metric('reachable')).toBe(0)
      await replaceWorker(command.child.pid)
      await replaceWorker(command.child.pid)
      await expectPage(command, 'second')
      const cold = await rawRequest(own, { target: '/assets/large-1.bin' })
      expect([cold.status, cold.field('Retry-After'), cold.field('Cache-Control')]).toEqual([
        503,
        '5',
        'no-store',
      ])
      proxy.fail()
      await said(command, 'is reachable again')
      expect(await distinctAnswers(own, '/assets/large-1.bin')).toEqual(new Set([`200 ${large.toString()}`]))
      expect(await metric('fetched_blobs_total')).toBe((blobs ?? 0) + 1)
      expect(await endCommand(command)).not.toMatch(/stuck|refused/)
    })

    test('checks it once for all workers before they answer 404 for a hashed file', async () => {
      const store = await makeStore()
      await deployTo(store, { 'index.html': 'third', 'assets/entry-3.js': 'third()' })
      // A busy machine may take longer than the 500 ms that a request waits for the refresh.
      const patient = `const set = setTimeout
        globalThis.setTimeout = (call, time, ...rest) => set(call, time === 500 ? 60_000 : time, ...rest)`
      const command = await start(
        store,
        [],
        ['--import', `data:text/javascript,${encodeURIComponent(patient)}`],
      )
      const { port: own } = await command.listening
      await deployTo(store, { 'index.html': 'fourth', 'assets/entry-4.js': 'fourth()' })
      expect(await distinctAnswers(own, '/assets/entry-4.js')).toEqual(new Set(['200 fourth()']))
      await expectPage(command, 'fourth')
      const before = proxy.seen.length
      const names = Array.from({ length: 40 }, (_each, index) => `/assets/none-${index}.js`)
      const answers = await Promise.all(names.map(async (target) => await rawRequest(own, { target })))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
      const looks = proxy.seen.slice(before).filter(({ path }) => path.endsWith('current.json'))
      // The workers share one check per second, and the primary process also checks every five seconds.
      expect(looks.length).toBeLessThan(names.length / 2)
      await endCommand(command)
    })

    test('keeps serving a build that was removed from the store, also by new workers', async () => {
      const store = await makeStore()
      const command = await start(store, [])
      // The server cannot see the next build before the signal.
      proxy.fail(({ path }) => (path.endsWith('current.json') ? { reset: 'before' } : undefined))
      for (const [name, value] of Object.entries(s3Environment(s3.endpoint, s3.root))) vi.stubEnv(name, value)
      const backend = await openStore(store)
      const { buildId } = JSON.parse(
        (
          await rawRequest((await command.listening).port, { target: '/__serve-dist/build.json' })
        ).body.toString(),
      )
      await publishFiles(store, { 'index.html': 'third' })
      await purge(backend, buildId)
      await replaceWorker(command.child.pid)
      await expectPage(command, 'second')
      proxy.fail()
      command.child.kill('SIGHUP')
      await expectPage(command, 'third')
      expect(
        (await rawRequest((await command.listening).port, { target: '/assets/entry-2.js' })).status,
      ).toBe(404)
      await endCommand(command)
    })
  })

  test('fails to start if nothing is published, and reports it once', async () => {
    const { folder, words } = await makeFolder()
    await rm(folder, { recursive: true })
    const { code, stderr } = await spawnCommand(words).exited
    expect(code).toBe(1)
    expect(stderr).toMatch(/^serve-dist: SD_GENERATION_MISSING: .*the store contains no build.*\n$/)
  })

  test('continues after its cache was deleted', async () => {
    const { store, folder, words } = await makeFolder()
    // A worker may write to the cache in this moment.
    const removeCache = () => rm(join(folder, 'cache'), { recursive: true, maxRetries: 5 })
    const command = spawnCommand([...words, '--memory-budget', '1000'])
    await expectPage(command, 'second')
    const { port } = await command.listening
    await removeCache()
    expect(await distinctAnswers(port, '/assets/large-1.bin')).toEqual(new Set([`200 ${large.toString()}`]))
    await removeCache()
    await replaceWorker(command.child.pid)
    await expectPage(command, 'second')
    expect(await distinctAnswers(port, '/assets/large-1.bin')).toEqual(new Set([`200 ${large.toString()}`]))
    await removeCache()
    await publishFiles(store, { 'index.html': 'third' })
    await expectPage(command, 'third')
    expect(await distinctAnswers(port, '/assets/large-1.bin')).toEqual(new Set([`200 ${large.toString()}`]))
    await endCommand(command)
  })

  test('stops serving files of a purged build, also by new workers', async () => {
    const { store, words } = await makeFolder()
    const command = spawnCommand([...words, '--memory-budget', '1000'])
    await expectPage(command, 'second')
    const { port } = await command.listening
    const kept = { 'index.html': 'third', 'assets/entry-3.js': 'third()' }
    const { buildId } = await publishFiles(store, kept)
    await publishFiles(store, second)
    await expectPage(command, 'second')
    expect(await distinctAnswers(port, '/assets/large-1.bin')).toEqual(new Set([`200 ${large.toString()}`]))
    expect(await distinctAnswers(port, '/assets/entry-3.js')).toEqual(new Set(['200 third()']))
    await purge(await openStore(store), buildId)
    const statusesOf = async (): Promise<ReadonlySet<string>> =>
      new Set([...(await distinctAnswers(port, '/assets/entry-3.js'))].map((answer) => answer.slice(0, 3)))
    await vi.waitFor(async () => expect(await statusesOf()).toEqual(new Set(['404'])), patience)
    await replaceWorker(command.child.pid)
    await expectPage(command, 'second')
    expect(await statusesOf()).toEqual(new Set(['404']))
    expect(await distinctAnswers(port, '/assets/large-1.bin')).toEqual(new Set([`200 ${large.toString()}`]))
    expect(await endCommand(command)).toMatch(
      /still serving build \w+, with 1 hashed file of 1 earlier build\n/,
    )
  })

  test('starts a replaced worker with the build of the others while it rejects the current one', async () => {
    const { store, words } = await makeFolder()
    const command = spawnCommand(words)
    await expectPage(command, 'second')
    await deployTo(store, { 'index.html': 'third', 'assets/entry-3.js': 'third()', [needy.path]: '' }, needy)
    await said(command, 'NOWHERE_SET')
    await replaceWorker(command.child.pid)
    await expectPage(command, 'second')
    // Other replicas may have the values and serve these pages.
    const { port } = await command.listening
    expect(await distinctAnswers(port, '/assets/entry-3.js')).toEqual(new Set(['200 third()']))
    await expectPage(command, 'second')
    await publishFiles(store, { 'index.html': 'fourth' })
    await expectPage(command, 'fourth')
    expect((await rawRequest((await command.listening).port, { target: '/assets/entry-2.js' })).status).toBe(
      200,
    )
    await endCommand(command)
  })

  test.each(['lacks a file', 'lacks a value of the environment'])(
    'stops serving files of a purged build while the current one %s, also by new workers',
    async (what) => {
      const { store, words } = await makeFolder()
      await deployTo(store, { 'index.html': 'third', 'assets/entry-3.js': 'third()' })
      const command = spawnCommand(words)
      await expectPage(command, 'third')
      const { port } = await command.listening
      const files = { 'index.html': 'fourth', 'assets/entry-4.js': 'fourth()' }
      if (what === 'lacks a file') await publishWithMissingFile('index.html', store, files)
      else await deployTo(store, { ...files, [needy.path]: '' }, needy)
      await said(command, 'reload refused, still serving')
      expect(await distinctAnswers(port, '/assets/entry-2.js')).toEqual(new Set(['200 second()']))
      const generations = await listGenerations(await openStore(store))
      await purge(await openStore(store), generations[2]?.id ?? '')
      await vi.waitFor(
        async () =>
          expect(await distinctAnswers(port, '/assets/entry-2.js')).toEqual(new Set(['404 404 Not Found\n'])),
        patience,
      )
      expect(await distinctAnswers(port, '/assets/large-1.bin')).toEqual(new Set([`200 ${large.toString()}`]))
      await replaceWorker(command.child.pid)
      await expectPage(command, 'third')
      expect(await distinctAnswers(port, '/assets/entry-2.js')).toEqual(new Set(['404 404 Not Found\n']))
      expect((await endCommand(command)).split('reload refused')).toHaveLength(2)
    },
  )

  test.each(['1', '2'])('follows changes of its variable file, with %s workers', async (workers) => {
    const { store, folder, words } = await makeFolder()
    const environment = { ...needy, variables: { SHADE: { type: 'string' } } } as const
    await deployTo(store, { 'index.html': 'third', [needy.path]: '' }, environment)
    const envFile = join(folder, 'vars')
    await writeFile(envFile, 'SHADE=red')
    const command = spawnCommand([...words, '--workers', workers, '--env-file', envFile])
    const { port } = await command.listening
    const shades = async (): Promise<string> => [...(await distinctAnswers(port, `/${needy.path}`))].join()
    expect(await shades()).toContain('red')
    await writeFile(envFile, 'SHADE=blue')
    await vi.waitFor(async () => expect(await shades()).toMatch(/^200 [^,]*blue/), patience)
    expect(await shades()).not.toContain('red')
    await endCommand(command)
  })

  test('survives many concurrent signals and publishes', async () => {
    const { store, folder, words } = await makeFolder()
    const command = spawnCommand(words)
    await expectPage(command, 'second')
    const pages = ['a', 'b', 'c', 'd', 'e', 'f']
    const storm = setInterval(() => command.child.kill('SIGHUP'), 5)
    for (const page of pages) {
      const both = [page, `${page}2`].map((name) => publishFiles(store, { 'index.html': name }))
      // One of the two may fail because the other was faster.
      await Promise.allSettled(both)
    }
    await rename(store, join(folder, 'away'))
    await publishFiles(join(folder, 'away'), { 'index.html': 'last' })
    await rename(join(folder, 'away'), store)
    clearInterval(storm)
    command.child.kill('SIGHUP')
    await expectPage(command, 'last')
    expect(await endCommand(command)).not.toMatch(/stuck|ended by/)
  })
})
