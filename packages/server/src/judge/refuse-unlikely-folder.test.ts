import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath, OperatorError, stateDirectory } from '@serve-dist/manifest'
import { precompress } from '@serve-dist/precompress'
import { describe, expect, test } from 'vitest'
import { loadSite } from '../load/load-site.ts'
import type { LoadSiteOptions } from '../load/load-options.ts'
import { buildFixture, type FixtureFiles, writeFixture } from '../../test/support/build-fixture.ts'
import { compressibleText } from '../../test/support/compressible-text.ts'

const page = { 'index.html': 'page' }
const built = { 'index.html': compressibleText(2000, 'page'), 'assets/app.js': compressibleText(5000) }

async function refusalOf(
  directory: string,
  options: LoadSiteOptions = {},
): Promise<OperatorError | undefined> {
  const error: unknown = await loadSite(directory, { onWarning: () => {}, ...options }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error === undefined || error instanceof OperatorError) return error
  throw error
}

/** Expects that `--force` serves the folder. */
async function expectServedAnyhow(directory: string): Promise<void> {
  expect(await refusalOf(directory, { noManifest: true })).toBeUndefined()
}

describe('a folder without its manifest', () => {
  test('is refused with the probable reasons, and served with --force', async () => {
    const directory = await buildFixture(built)
    await rm(join(directory, stateDirectory), { recursive: true })
    const refusal = await refusalOf(directory)
    expect(refusal?.code).toBe('SD_MANIFEST_LOST')
    expect(refusal?.problems[0]).toBe(
      `${directory}: the build has probably lost its manifest (${manifestPath}): 2 files have variants here, such as assets/app.js.zst.`,
    )
    expect(refusal?.message).toContain('include-hidden-files: true')
    expect(refusal?.message).toContain(`npx serve-dist compress ${directory}`)
    await expectServedAnyhow(directory)
  })

  test('is refused with the command for the build, if it is a part of one', async () => {
    const directory = await buildFixture({ ...built, 'assets/deep/more.js': compressibleText(3000) })
    for (const folder of ['assets', 'assets/deep']) {
      const refusal = await refusalOf(join(directory, folder))
      expect(refusal?.code).toBe('SD_FOLDER_WRONG')
      expect(refusal?.problems.slice(0, 2)).toEqual([
        `${directory}/${folder}: the folder is a part of a build.`,
        `  Run: npx serve-dist ${directory}`,
      ])
    }
  })

  test('is refused as a build without its manifest if the build above does not list it', async () => {
    const above = await buildFixture(built)
    await cp(await buildFixture(built), join(above, 'copy'), { recursive: true })
    await rm(join(above, 'copy', stateDirectory), { recursive: true })
    expect((await refusalOf(join(above, 'copy')))?.code).toBe('SD_MANIFEST_LOST')
  })

  test.each<[string, FixtureFiles]>([
    ['variants in one coding', { ...page, 'app.js': 'x', 'app.js.zst': 'x' }],
    ['variants of other tools', { ...page, 'app.js': 'x', 'app.js.gz': 'x', 'app.js.br': 'x' }],
    ['downloads', { ...page, 'data.bin': 'x', 'data.bin.gz': 'x', 'data.bin.zst': 'x' }],
  ])('is not confused with a folder with %s', async (_what, files) => {
    expect(await refusalOf(await writeFixture(files))).toBeUndefined()
  })
})

test('a folder with a manifest is served by its manifest, even with --force', async () => {
  const directory = await buildFixture({ ...page, 'notes.txt': 'private' }, { exclude: ['notes.txt'] })
  const site = await loadSite(directory, { noManifest: true })
  expect([...site.files.keys()]).toEqual(['index.html'])
})

describe('a folder above a build', () => {
  test('is refused with the command that serves the build', async () => {
    const directory = await writeFixture({ 'notes.txt': 'notes', 'client/index.html': 'page' })
    await precompress(join(directory, 'client'))
    const refusal = await refusalOf(directory)
    expect(refusal?.code).toBe('SD_FOLDER_WRONG')
    expect(refusal?.problems).toEqual([
      `${directory}: the folder has no manifest, but 1 folder below has one.`,
      `  Run: npx serve-dist ${directory}/client`,
      `  To serve the whole folder ${directory} anyway, pass --force.`,
    ])
    await expectServedAnyhow(directory)
  })

  test('is refused with the usual output folder first, and the number of others', async () => {
    const folders = ['a', 'b', 'c', 'dist']
    const directory = await writeFixture(
      Object.fromEntries(folders.map((folder) => [`${folder}/index.html`, 'page'])),
    )
    for (const folder of folders) await precompress(join(directory, folder))
    const refusal = await refusalOf(directory)
    expect(refusal?.problems.slice(0, -1)).toEqual([
      `${directory}: the folder has no manifest, but 4 folders below have one.`,
      ...['dist', 'a', 'b'].map((folder) => `  Run: npx serve-dist ${directory}/${folder}`),
      '  and 1 more',
    ])
  })
})

describe('a folder with server code', () => {
  test.each<[string, FixtureFiles, readonly string[]]>([
    [
      'client next to server',
      { 'client/index.html': 'page', 'server/entry.mjs': 'code' },
      ['/client', '/client --ssr DIR/server/entry.mjs'],
    ],
    [
      '.output of Nitro',
      { 'nitro.json': '{}', 'public/index.html': 'page', 'server/index.mjs': 'code' },
      ['/public', '/public --ssr DIR/server/index.mjs'],
    ],
    [
      'the project above .output',
      { 'a.txt': 'a', '.output/public/index.html': 'page', '.output/server/index.mjs': 'code' },
      ['/.output/public', '/.output/public --ssr DIR/.output/server/index.mjs'],
    ],
    [
      'adapter-node',
      { 'client/app.js': 'x', 'server/index.js': 'code', 'handler.js': 'code', 'index.js': 'code' },
      ['/client', '/client --ssr DIR/handler.js'],
    ],
    ['pages next to the code', { ...page, 'server/entry-server.js': 'code' }, []],
    [
      'a subfolder with the record of a server build',
      { ...page, 'rendering/made.js': 'code', 'rendering/.serve-dist/record.json': '{"role":"server"}' },
      [],
    ],
    [
      'the record of a server build',
      { 'chunk.js': 'code', '.serve-dist/record.json': '{"role":"server"}' },
      [],
    ],
  ])('is refused: %s', async (_what, files, commands) => {
    const directory = await writeFixture(files)
    const refusal = await refusalOf(directory)
    expect(refusal?.code).toBe('SD_FOLDER_WRONG')
    const shown = refusal?.problems.flatMap((line) => line.match(/npx serve-dist .*/)?.[0] ?? [])
    expect(shown).toEqual(
      commands.map((rest) => `npx serve-dist ${directory}${rest.replace('DIR', directory)}`),
    )
    await expectServedAnyhow(directory)
  })

  test('is not confused with a site that has a folder named server', async () => {
    expect(await refusalOf(await writeFixture({ ...page, 'server/index.js': 'of the site' }))).toBeUndefined()
  })
})

describe('a folder with the record of a build, and without a manifest', () => {
  test('is refused with the missing command', async () => {
    const directory = await writeFixture({ ...page, '.serve-dist/record.json': '{"role":"client"}' })
    const refusal = await refusalOf(directory)
    expect([refusal?.code, refusal?.message]).toEqual([
      'SD_BUILD_UNFINISHED',
      `${directory}: the build ended without its compression. Run: npx serve-dist compress ${directory} (if the build failed, build again). If this happens after each build, add the integration for your framework (https://serve-dist.github.io/serve-dist/frameworks).`,
    ])
    await expectServedAnyhow(directory)
  })
})

describe('a project', () => {
  test.each<[string, FixtureFiles]>([
    ['without a page', { 'package.json': '{}', 'index.js': 'code' }],
    ['with its sources', { ...page, 'package.json': '{}', 'vite.config.ts': 'code' }],
    ['with its packages', { ...page, 'package.json': '{}', 'node_modules/a/index.js': 'code' }],
  ])('%s is refused', async (_what, files) => {
    const directory = await writeFixture(files)
    expect((await refusalOf(directory))?.code).toBe('SD_FOLDER_WRONG')
    await expectServedAnyhow(directory)
  })

  test('is not confused with a page next to a package.json', async () => {
    expect(await refusalOf(await writeFixture({ ...page, 'package.json': '{}' }))).toBeUndefined()
  })
})

describe('a folder of sources', () => {
  test('is refused', async () => {
    const directory = await writeFixture({ 'main.tsx': 'x', 'lib/api.ts': 'x', 'styles.css': 'x' })
    const refusal = await refusalOf(directory)
    expect(refusal?.code).toBe('SD_FOLDER_WRONG')
    expect(refusal?.problems[0]).toBe(
      `${directory}: the folder has sources (main.tsx) and no page, so it is not a build for browsers.`,
    )
    await expectServedAnyhow(directory)
  })

  test.each<[string, FixtureFiles]>([
    ['a page and an example', { ...page, 'examples/button.tsx': 'x' }],
    ['scripts and types', { 'client.js': 'x', 'client.d.ts': 'x' }],
  ])('is not confused with a folder with %s', async (_what, files) => {
    expect(await refusalOf(await writeFixture(files))).toBeUndefined()
  })
})

describe('an empty folder', () => {
  test.each<[string, FixtureFiles]>([
    ['nothing', {}],
    ['only hidden files', { '.gitkeep': '', '.git/config': '' }],
  ])('with %s is refused, even with --force', async (_what, files) => {
    const directory = await writeFixture(files)
    for (const options of [{}, { noManifest: true }]) {
      expect((await refusalOf(directory, options))?.message).toBe(
        `${directory}: the folder has no files to serve. Build first, or name the folder of the build.`,
      )
    }
  })
})
