import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Manifest } from '@serve-dist/manifest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../src/launch-chromium.ts'
import { openPage } from '../src/open-page.ts'
import { sendRequest } from '../src/send-request.ts'
import { startCommand } from '../src/start-command.ts'
import { walkFiles } from '../src/walk-files.ts'
import {
  expectWholeBuild,
  compressionSummaries,
  type WholeBuild,
  withoutTimes,
} from './support/expect-whole-build.ts'
import { expectTypes } from './support/expect-types.ts'
import { type FrameworkProject, prepareProject } from './support/framework-project.ts'
import { frameworkVersions } from './support/framework-versions.ts'
import { serveAndVisit, type Visit } from './support/serve-and-visit.ts'

const folder = '.output/public'
const pages = { '/': 'The harbour', '/tides': 'Tides', '/guide/knots': 'Knots' }
const module = '@serve-dist/vite/nuxt'
const before = { '3.21': { nuxt: '~3.21.9', 'vue-router': '^4.6.4' } }

describe.each(frameworkVersions('4.5', before))('Nuxt $version', ({ version, dependencies }) => {
  let project: FrameworkProject

  beforeAll(async () => {
    project = await prepareProject('nuxt', dependencies)
    if (version in before) await configure({ modules: [module] })
  })
  afterAll(() => project.remove())

  /** Nuxt 3 needs options for the folders of Nuxt 4 and for a fixed build ID. */
  const configure = (options: object): Promise<void> => {
    const common = {
      compatibilityDate: '2026-11-01',
      future: { compatibilityVersion: 4 },
      buildId: 'harbour',
    }
    const text = `export default defineNuxtConfig(${JSON.stringify({ ...common, ...options })})\n`
    return project.write({ 'nuxt.config.ts': text })
  }
  const generated = (): WholeBuild => ({
    project,
    folder,
    hashed: /^_nuxt\/[^/]+$/,
    pages: ['200.html', '404.html', 'guide/knots/index.html', 'index.html', 'tides/index.html'],
  })
  const visit = (): Visit => ({
    project,
    args: [folder],
    pages,
    notFound: { path: '/lost', heading: '<div id="__nuxt">' },
    isClientRouted: true,
  })

  test('nuxt generate: serves every page, and 404.html for unknown paths', async () => {
    expect(compressionSummaries(await project.build('generate'))).toHaveLength(1)
    await expectWholeBuild(generated())
    await serveAndVisit(visit())
    await expectLost()
  })

  test('type-checks as a Nuxt module', async () => {
    await project.write({
      'types.mts': `import serveDist from '${module}'
import { defineNuxtConfig } from 'nuxt/config'

export default defineNuxtConfig({ modules: ['${module}', [serveDist, { exclude: ['drafts/**'] }]] })
`,
    })
    await expect(expectTypes(project, 'types.mts')).resolves.toBeUndefined()
  })

  test('nuxt build: Nitro answers what the folder does not have', async () => {
    expect(compressionSummaries(await project.build('build'))).toHaveLength(1)
    const { files } = await expectWholeBuild({ ...generated(), pages: ['robots.txt'] })
    expect(files.filter((file) => file.path.endsWith('.html'))).toEqual([])
    await serveAndVisit({
      ...visit(),
      args: [folder, '--ssr', '.output/server/index.mjs'],
      rendered: Object.keys(pages),
      notFound: { path: '/lost', heading: 'Lost at sea' },
    })
  })

  test('serve-dist compress finds the record of a build without the module', async () => {
    await configure({ modules: [module] })
    await project.build('generate')
    const ofModule = await expectWholeBuild(generated())
    await withPlugin('{ pass: false }')
    await project.build('generate')
    expect(await walkFiles(path.join(project.folder, folder))).not.toContain('.serve-dist/manifest.json')
    const output = await project.compress(folder)
    expect(output).toMatch(/\d+ hashed names known from the build of /)
    expect(withoutContent(await expectWholeBuild(generated()))).toEqual(withoutContent(ofModule))
    await serveAndVisit(visit())
  })

  test('the plugin alone suggests the module, and compresses nothing', async () => {
    await withPlugin('{}')
    const output = await project.build('generate')
    expect(output.split(`put "${module}" into "modules"`)).toHaveLength(2)
    expect(output).toContain('npx @serve-dist/server compress .output/public')
    const files = await walkFiles(path.join(project.folder, folder))
    expect(files.filter((name) => /\.(br|gz|zst)$|manifest\.json$/.test(name))).toEqual([])
  })

  test("uses the base, and disables Nitro's own compression", async () => {
    await configure({
      modules: [module],
      app: { baseURL: '/docs/' },
      nitro: { compressPublicAssets: true },
    })
    expect(await project.build('generate')).toContain('nitro.compressPublicAssets')
    const manifest = await expectWholeBuild(generated())
    expect(manifest.base).toBe('/docs/')
    expect(manifest.files.filter((file) => /\.(br|gz)$/.test(file.path))).toEqual([])
    await serveAndVisit({
      ...visit(),
      pages: Object.fromEntries(Object.entries(pages).map(([at, heading]) => [`/docs${at}`, heading])),
      notFound: { path: '/docs/lost', heading: '<div id="__nuxt">' },
    })
    // A copy without hidden files. compress then uses the record in the cache.
    await rm(path.join(project.folder, folder, '.serve-dist'), { recursive: true })
    await project.compress(folder)
    expect(withoutTimes(await expectWholeBuild(generated()))).toEqual(withoutTimes(manifest))
  })

  test('fallback spa: serves 200.html for unknown paths', async () => {
    await configure({ modules: [[module, { serving: { fallback: 'spa' } }]] })
    await project.build('generate')
    await withServer(async (url) => {
      const response = await sendRequest(new URL('/lost', url), { headers: { accept: 'text/html' } })
      expect(response).toMatchObject({ status: 200, headers: { 'cache-control': 'no-cache' } })
      expect((await sendRequest(new URL('/_nuxt/lost.js', url))).status).toBe(404)
    })
  })

  /** Expects the application's own 404 page, which the browser renders. */
  async function expectLost(): Promise<void> {
    await withServer(async (url) => {
      const browser = await launchChromium()
      try {
        const { page } = await openPage(browser)
        const response = await page.goto(new URL('/lost', url).href)
        expect(response?.status()).toBe(404)
        await page.locator('h1', { hasText: 'Lost at sea' }).waitFor()
      } finally {
        await browser.close()
      }
    })
  }

  async function withServer(run: (url: URL) => Promise<void>): Promise<void> {
    const args = [folder, '--port', '0']
    const server = await startCommand(project.command, { args, cwd: project.folder })
    try {
      await run(server.url)
    } finally {
      await server.stop()
    }
  }

  /** Configures the Vite plugin without the module. */
  async function withPlugin(options: string): Promise<void> {
    await rm(path.join(project.folder, '.output'), { recursive: true, force: true })
    await project.write({
      'nuxt.config.ts': `import serveDist from '@serve-dist/vite'
export default defineNuxtConfig({
  compatibilityDate: '2026-11-01',
  future: { compatibilityVersion: 4 },
  buildId: 'harbour',
  vite: { plugins: [serveDist(${options})] },
})
`,
    })
  }
})

/** Returns the parts of a manifest that do not depend on the time of a build. */
function withoutContent({ files, base, appType, assetsDirectory, selection }: Manifest): unknown {
  return {
    base,
    appType,
    assetsDirectory,
    selection,
    files: files.map(({ path: name, stem, cache, mediaType, links }) => ({
      name,
      stem,
      cache,
      mediaType,
      links,
    })),
  }
}
