import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { carriedFolder, carriedListPath, parseKeptList } from '@serve-dist/manifest'
import { precompress } from '@serve-dist/precompress'
import { readBuild } from '@serve-dist/report'
import { parseHistory } from '@serve-dist/store'
import express from 'express'
import { describe, expect, test } from 'vitest'
import { checkFolder } from '../../src/check/check-folder.ts'
import { createFetchHandler } from '../../src/hosts/fetch.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture, type FixtureFiles } from '../support/build-fixture.ts'
import { carryFrom } from '../support/carry-from.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { publishFiles } from '../support/publish-files.ts'
import { requestTwice } from '../support/request-twice.ts'
import { startListener } from '../support/start-listener.ts'
import { startServer } from '../support/start-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const immutable = 'public, max-age=31536000, immutable'
const options = {
  isHashed: (path: string) => path.startsWith('assets/'),
  assetsDirectory: 'assets',
  appType: 'spa',
} as const

/** Names that `isHashed` selects are immutable. */
function filesOf(build: number): FixtureFiles {
  return {
    'index.html': `<title>${build}</title>`,
    [`assets/app-${build}.js`]: compressibleText(20_000, `app ${build}`),
    [`assets/app-${build}.js.map`]: '{}',
    [`assets/font-${build}.woff2`]: Buffer.alloc(300_000, `font ${build}`),
    [`assets/page-${build}.html`]: `<title>${build}</title>`,
    'assets/shared.css': '/* all builds */',
  }
}

/** Builds releases, of which each carries from a server of the one before. Returns a copy of the last. */
async function release(last: 2 | 3): Promise<string> {
  const directory = join(await temporaryDirectory(), 'dist')
  await cp((await releases)[last - 1] ?? '', directory, { recursive: true })
  return directory
}

const releases = makeReleases()

async function makeReleases(): Promise<readonly string[]> {
  const made: string[] = []
  for (const build of [1, 2, 3]) {
    const before = made.length === 0 ? undefined : await startServer(made.at(-1))
    made.push(await buildFixture(filesOf(build), options))
    if (before !== undefined) await carryFrom(before.port, made.at(-1) ?? '')
    await before?.close()
  }
  return made
}

type Ask = (path: string, headers?: Record<string, string>) => Promise<Response>

const hosts: readonly (readonly [string, (directory: string) => Promise<Ask>])[] = [
  ['serve()', async (directory) => asking((await startServer(directory)).port)],
  [
    'Express',
    async (directory) => asking(await startListener(express().use(createHandler(await loadSite(directory))))),
  ],
  [
    'fetch',
    async (directory) => {
      const answer = createFetchHandler(await loadSite(directory))
      return async (path, headers = {}) =>
        (await answer(new Request(`http://example.org${path}`, { headers }))) ??
        new Response('', { status: 404 })
    },
  ],
]

function asking(port: number): Ask {
  return async (path, headers = {}) => await fetch(`http://127.0.0.1:${port}${path}`, { headers })
}

describe('carried files', () => {
  test.each(hosts)(
    'are served by %s with variants, and never pages and source maps',
    async (_name, start) => {
      const ask = await start(await release(3))
      for (const build of [1, 2, 3]) {
        for (const name of [`app-${build}.js`, `font-${build}.woff2`]) {
          const answer = await ask(`/assets/${name}`, { 'Accept-Encoding': 'identity' })
          expect([name, answer.status, answer.headers.get('cache-control')]).toEqual([name, 200, immutable])
          const content = Buffer.from(filesOf(build)[`assets/${name}`] ?? '')
          expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true)
        }
      }
      const encoded = await ask('/assets/app-1.js', { 'Accept-Encoding': 'br' })
      expect(encoded.headers.get('content-encoding')).toBe('br')
      const tag = encoded.headers.get('etag') ?? ''
      expect((await ask('/assets/app-1.js', { 'If-None-Match': tag, 'Accept-Encoding': 'br' })).status).toBe(
        304,
      )
      const part = await ask('/assets/font-1.woff2', { Range: 'bytes=5-9', 'Accept-Encoding': 'identity' })
      expect([part.status, await part.text()]).toEqual([206, '1font'.slice(0, 5)])
      for (const path of ['/assets/app-2.js.map', '/assets/page-2.html', `/${carriedListPath}`]) {
        expect([path, (await ask(path)).status]).toEqual([path, 404])
      }
      expect(await (await ask('/')).text()).toBe('<title>3</title>')
      const { builds } = parseKeptList(await (await ask('/__serve-dist/kept.json')).text())
      expect(
        builds.map(({ files, superseded }) => [typeof superseded, files.map(({ path }) => path)]),
      ).toEqual([
        ['undefined', ['assets/app-3.js', 'assets/font-3.woff2', 'assets/shared.css']],
        ['string', ['assets/app-2.js', 'assets/font-2.woff2']],
        ['string', ['assets/app-1.js', 'assets/font-1.woff2']],
      ])
    },
  )

  test('obey the current rules', async () => {
    const directory = await release(2)
    const site = { rules: { keptList: false, headers: { '**/*.js': { 'X-Rule': 'now' } } } }
    const { port } = await startServer(directory, { site })
    const { field } = await requestTwice(port, { target: '/assets/app-1.js' })
    expect(field('x-rule')).toBe('now')
    expect((await requestTwice(port, { target: '/__serve-dist/kept.json' })).status).toBe(404)
    expect((await loadSite(directory)).summary).toMatchObject({ keptBuilds: 1, keptFiles: 2 })
  })

  test('stay with a reload, next to files of builds that the process served', async () => {
    const directory = await release(2)
    const server = await startServer(directory)
    await precompress(directory, { ...options, exclude: ['assets/app-2.js'] })
    expect(await server.reload()).toMatchObject({ status: 'swapped', keptBuilds: 2 })
    for (const target of ['/assets/app-1.js', '/assets/app-2.js']) {
      expect([target, (await requestTwice(server.port, { target })).status]).toEqual([target, 200])
    }
    expect(await server.reload()).toMatchObject({ status: 'unchanged' })
  })

  test('stay if the next build empties the folder', async () => {
    const directory = await release(2)
    const server = await startServer(directory)
    const expectFiles = async (): Promise<void> => {
      for (const name of ['app-1.js', 'font-1.woff2']) {
        const target = `/assets/${name}`
        expect([name, (await requestTwice(server.port, { target })).status]).toEqual([name, 200])
      }
    }
    await rm(directory, { recursive: true })
    await expectFiles()
    await cp((await releases)[2] ?? '', directory, { recursive: true })
    await rm(join(directory, carriedListPath))
    expect(await server.reload()).toMatchObject({ status: 'swapped', keptBuilds: 2 })
    await expectFiles()
  })

  test('are streamed if there is no room in memory', async () => {
    const site = { memoryBudget: 100_000 }
    const { port } = await startServer(await release(2), { site })
    const { body } = await requestTwice(port, { target: '/assets/font-1.woff2' })
    expect(body).toHaveLength(300_000)
  })

  test('are not part of the build for compress, report and check', async () => {
    const directory = await release(2)
    const carried = await readdir(join(directory, carriedFolder))
    const alone = await readBuild(await buildFixture(filesOf(2), options))
    const load = { rules: {} }
    const findings = await checkFolder(directory, { load, hasApplication: false })
    await precompress(directory, options)
    expect(await readdir(join(directory, carriedFolder))).toEqual(carried)
    const { buildId, files } = await readBuild(directory)
    expect([buildId, files.length]).toEqual([alone.buildId, alone.files.length])
    expect(await checkFolder(directory, { load, hasApplication: false })).toEqual(findings)
    expect(JSON.stringify(findings)).not.toContain('-1.')
  })

  test.each([
    [
      'a missing file',
      async (folder: string, name: string) => await rm(join(folder, name)),
      'SD_MANIFEST_MISMATCH',
    ],
    [
      'a file of another size',
      async (folder: string, name: string) => await writeFile(join(folder, name), 'x'),
      'SD_MANIFEST_MISMATCH',
    ],
    [
      'an invalid list',
      async (folder: string) => await writeFile(`${folder}.json`, '{"version":1,"builds":[1]}'),
      'SD_MANIFEST_INVALID',
    ],
  ])('prevent a start if the folder has %s', async (_what, damage, code) => {
    const directory = await release(2)
    const folder = join(directory, carriedFolder)
    const [name = ''] = await readdir(folder)
    await damage(folder, name)
    await expect(loadSite(directory)).rejects.toMatchObject({ code })
  })
})

describe('the list of a store', () => {
  test('names the builds of the store with their times, and a new build carries from it', async () => {
    const store = join(await temporaryDirectory(), 'store')
    const ids: string[] = []
    for (const build of [1, 2, 3]) ids.unshift((await publishFiles(store, filesOf(build))).buildId)
    const { port } = await startServer(undefined, { store, storeCache: await temporaryDirectory() })
    const text = await (await asking(port)('/__serve-dist/kept.json')).text()
    const { builds } = parseKeptList(text)
    expect(builds.map(({ id }) => id)).toEqual(ids)
    const { history } = parseHistory(await readFile(join(store, 'current.json'), 'utf8'), store)
    expect(builds.map(({ superseded }) => superseded)).toEqual(history.map(({ superseded }) => superseded))
    const directory = await buildFixture(filesOf(4), options)
    expect(await carryFrom(port, directory)).toMatchObject({ builds: 3, files: 6 })
    const carried = parseKeptList(await readFile(join(directory, carriedListPath), 'utf8'))
    expect(carried.builds.map(({ id }) => id)).toEqual(ids)
  })
})
