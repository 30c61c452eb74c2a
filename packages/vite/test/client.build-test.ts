import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { InlineConfig, Plugin } from 'vite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { chromiumPath } from '../../../e2e/src/launch-chromium.ts'
import type { OpenedPage } from '../../../e2e/src/open-page.ts'
import { simulateTabShown } from '../../../e2e/src/simulate-tab-shown.ts'
import serveDist from '../src/index.ts'
import { recordingPlugins } from '../src/plugin.ts'
import { createProject, type Project } from './support/project.ts'
import { listenForFolder, type ServedFolder } from './support/serve-folder.ts'
import { useChromium } from './support/use-chromium.ts'
import { type TestedVite, vites } from './support/vites.ts'

const modified = 'Sun, 01 Nov 2026 10:00:00 GMT'

const main = `
import { watchForUpdates } from 'virtual:serve-dist/client'
const updates = []
addEventListener('serve-dist:update', ({ detail }) => updates.push(detail.buildId))
const route = () => import('./lazy.js')
Object.assign(window, { updates, watchForUpdates, route })
if (location.search === '?at-once') route().catch(({ name }) => { document.title = name })`

const site: Record<string, string> = {
  'index.html':
    '<!doctype html><html><head><title>t</title><link rel="icon" href="data:,"><script type="module" src="/main.js"></script></head></html>',
  'main.js': main,
  'lazy.js': 'export default "a lazy route"',
}

/** Builds the application, and returns the code of its scripts. */
async function buildSite(
  build: TestedVite['build'],
  project: Project,
  config?: InlineConfig,
): Promise<string> {
  await build(project, config)
  const scripts = (await project.list()).filter((path) => path.endsWith('.js'))
  return (await Promise.all(scripts.map((path) => project.read(join('dist', path))))).join('\n')
}

type Page = OpenedPage['page']

describe.each(vites)('virtual:serve-dist/client by $name', ({ build, load }) => {
  test('adds less than 1,000 bytes to a build, and nothing without the import', async () => {
    const used =
      "import { watchForUpdates } from 'virtual:serve-dist/client'\nwatchForUpdates({ interval: 1e4 })\n"
    const sizes: number[] = []
    for (const text of ['', used]) {
      const project = await createProject({ ...site, 'main.js': `${text}console.log('an application')` })
      const code = await buildSite(build, project)
      expect(code.includes('serve-dist')).toBe(text !== '')
      sizes.push(Buffer.byteLength(code))
    }
    const [without = 0, with_ = 0] = sizes
    expect(with_ - without).toBeGreaterThan(500)
    expect(with_ - without).toBeLessThan(1000)
  })

  test('requests the build id below the base of a framework', async () => {
    const project = await createProject(site)
    const nuxt = recordingPlugins({}, 'nuxt', '/shop/')
    expect(await buildSite(build, project, { base: '/shop/_nuxt/', plugins: nuxt })).toMatch(
      /["'`]\/shop\/__serve-dist\/build\.json["'`]/,
    )
    const svelteKit: Plugin = {
      name: 'vite-plugin-sveltekit-compile',
      config: () => ({ define: { __SVELTEKIT_PATHS_BASE__: '"/kit"' } }),
    }
    const plugins = [svelteKit, ...recordingPlugins({}, 'sveltekit')]
    expect(await buildSite(build, project, { base: './', plugins })).toMatch(
      /["'`]\/kit\/__serve-dist\/build\.json["'`]/,
    )
  })

  test('does nothing in development, in workers and on servers', async () => {
    const project = await createProject({
      ...site,
      'main.js': "new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })",
      'worker.js':
        "import { watchForUpdates } from 'virtual:serve-dist/client'\npostMessage(watchForUpdates()())",
    })
    expect(await buildSite(build, project)).not.toContain('preloadError')
    await project.write('package.json', '{ "type": "module" }')
    await project.write('entry.js', "export { watchForUpdates } from 'virtual:serve-dist/client'")
    await build(project, { build: { ssr: 'entry.js', outDir: 'server' } })
    const rendered: object = await import(join(project.root, 'server/entry.js'))
    expect(Reflect.get(rendered, 'watchForUpdates')()()).toBeUndefined()

    const { createServer } = await load()
    const server = await createServer({
      ...project.config({ plugins: [serveDist()] }),
      server: { port: 0, host: '127.0.0.1' },
    })
    onTestFinished(() => server.close())
    const module = await server.ssrLoadModule('virtual:serve-dist/client')
    expect(module['watchForUpdates']()()).toBeUndefined()
    const sent = await server.transformRequest('virtual:serve-dist/client')
    expect(sent?.code).not.toContain('addEventListener')
  })

  describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
    const openPage = useChromium()

    /** Builds, serves and opens the application. */
    async function openSite(
      host: ServedFolder,
      { base = '/', config = {} }: { readonly base?: string; readonly config?: InlineConfig } = {},
    ): Promise<OpenedPage & { readonly project: Project; readonly loads: () => number }> {
      const project = await createProject(site)
      await buildSite(build, project, config)
      await deploy(project, 'one')
      host.serve(join(project.root, 'dist'), base)
      const opened = await openPage()
      let count = 0
      opened.page.on('load', () => void (count += 1))
      await opened.page.goto(`${host.origin}${base}`)
      return { ...opened, project, loads: () => count }
    }

    const relative = { renderBuiltUrl: () => ({ relative: true }) }
    test.each<[string, string, InlineConfig]>([
      ['/', '/', {}],
      ['/app/', '/app/', {}],
      ['./', '/deep/down/', {}],
      ['', '/deep/', {}],
      ['/app/', '/app/', { experimental: relative }],
    ])('requests the build id below the base %j, served at %s', async (base, served, config) => {
      const host = await listenForFolder()
      const { page } = await openSite(host, { base: served, config: { base, ...config } })
      expect(host.asked.filter((path) => path.includes('__serve-dist'))).toEqual([])
      await watch(page)
      await expect.poll(() => host.asked).toContain(`${served}__serve-dist/build.json`)
    })

    test.each<[string, (cdn: string) => InlineConfig, string]>([
      ['its base', (cdn) => ({ base: `${cdn}/files/` }), '/files/'],
      [
        'renderBuiltUrl',
        (cdn) => ({ experimental: { renderBuiltUrl: (path) => `${cdn}/files/${path}` } }),
        '/',
      ],
      [
        'renderBuiltUrl and a relative base',
        (cdn) => ({ base: './', experimental: { renderBuiltUrl: (path) => `${cdn}/files/${path}` } }),
        '/',
      ],
    ])(
      "requests the build id from the page's host if chunks are on a CDN by %s",
      async (_, configFor, base) => {
        const [host, cdn] = [await listenForFolder(), await listenForFolder()]
        const { page, project } = await openSite(host, { base, config: configFor(cdn.origin) })
        cdn.serve(join(project.root, 'dist'), '/files/')
        await page.reload()
        await watch(page)
        await expect.poll(() => host.asked).toContain(`${base}__serve-dist/build.json`)
        expect(cdn.asked.filter((path) => path.includes('__serve-dist'))).toEqual([])
      },
    )

    test('does not break a script of a format that does not support its URL', async () => {
      const host = await listenForFolder()
      const output = { format: 'iife' as const, codeSplitting: false }
      const config = { base: './', build: { rollupOptions: { output } } }
      const { page, complaints } = await openSite(host, { config })
      await watch(page)
      expect([await updatesOf(page), complaints]).toEqual([[], []])
    })

    test('announces each other build once, when the tab becomes visible and at each interval', async () => {
      const host = await listenForFolder()
      const { page, project, complaints } = await openSite(host)
      await watch(page)
      await expect.poll(() => page.evaluate(() => Object.values(sessionStorage))).toEqual(['one'])
      await deploy(project, 'two')
      expect(await updatesOf(page)).toEqual([])
      await simulateTabShown(page)
      await expect.poll(() => updatesOf(page)).toEqual(['two'])
      await simulateTabShown(page)
      await deploy(project, 'one')
      await simulateTabShown(page)
      await watch(page, 20)
      await deploy(project, 'three')
      await expect.poll(() => updatesOf(page)).toEqual(['two', 'three'])
      await deploy(project, 'two')
      await simulateTabShown(page)
      await page.evaluate(() => Object(globalThis).stop())
      const requests: string[] = []
      page.on('request', (request) => requests.push(request.url()))
      await simulateTabShown(page)
      expect(await updatesOf(page)).toEqual(['two', 'three'])
      expect(complaints.filter((line) => !line.includes('404'))).toEqual([])
      await page.evaluate(() => fetch('/nothing-else'))
      expect(requests).toEqual([`${host.origin}/nothing-else`])
    })

    test('detects the build of a page that "back" shows from the cache', async () => {
      const host = await listenForFolder({ 'Cache-Control': 'no-cache', 'Last-Modified': modified })
      const { page, project } = await openSite(host)
      await watch(page)
      await expect.poll(() => page.evaluate(() => Object.values(sessionStorage))).toEqual(['one'])
      await page.goto('about:blank')
      await deploy(project, 'two')
      const asked = host.asked.filter((path) => path === '/').length
      await page.goBack()
      await watch(page)
      await expect.poll(() => updatesOf(page)).toEqual(['two'])
      expect(host.asked.filter((path) => path === '/').length).toBe(asked)
      await page.reload()
      await watch(page)
      await simulateTabShown(page)
      expect(await updatesOf(page)).toEqual([])
    })

    test.each([
      ['does not exist', undefined],
      ["is the application's page", site['index.html']],
      ['is unrelated JSON', '{"error":"not found"}'],
    ])('prints nothing if the file %s', async (_, text) => {
      const host = await listenForFolder()
      const { page, project, complaints } = await openSite(host)
      if (text === undefined) await rm(join(project.root, 'dist/__serve-dist'), { recursive: true })
      else await project.write('dist/__serve-dist/build.json', text)
      await watch(page)
      await simulateTabShown(page)
      await expect.poll(() => host.asked.filter((path) => path.includes('__serve-dist')).length).toBe(2)
      await deploy(project, 'one')
      await simulateTabShown(page)
      expect(await updatesOf(page)).toEqual([])
      // The browser logs the 404 itself.
      expect(complaints.filter((line) => !line.includes('404'))).toEqual([])
    })

    test('reloads once for a missing chunk, and again for another chunk later', async () => {
      const host = await listenForFolder()
      const { page, project, loads } = await openSite(host)
      const start = Date.now()
      const lazy = await lazyOf(project)
      await rm(join(project.root, 'dist/assets', lazy))
      // One reload for all failures at the same time, without an exception.
      const [outcome] = await Promise.all([openRoutes(page), page.waitForEvent('load')])
      expect(outcome).toEqual(['undefined', 'undefined'])
      expect(await openRoutes(page)).toEqual(['TypeError', 'TypeError'])
      await page.clock.setFixedTime(start + 50 * 60_000)
      expect(await openRoutes(page)).toEqual(['TypeError', 'TypeError'])
      expect(loads()).toBe(2)

      // After a later deploy, the page names another chunk.
      await project.write('lazy.js', 'export default "another route"')
      await buildSite(build, project)
      await page.reload()
      const later = await lazyOf(project)
      expect(later).not.toBe(lazy)
      await rm(join(project.root, 'dist/assets', later))
      await Promise.all([openRoutes(page), page.waitForEvent('load')])
      expect(await openRoutes(page)).toEqual(['TypeError', 'TypeError'])
      expect(loads()).toBe(4)
      // The same chunk again after two hours.
      await page.clock.setFixedTime(start + 120 * 60_000)
      await Promise.all([openRoutes(page), page.waitForEvent('load')])
      expect(loads()).toBe(5)
    })

    test('reloads a page even if its frame was reloaded for the same chunk', async () => {
      const host = await listenForFolder()
      const { page, project, loads } = await openSite(host)
      await page.evaluate(async () => {
        const frame = document.createElement('iframe')
        frame.src = '/'
        const loaded = new Promise((resolve) => {
          frame.addEventListener('load', resolve)
        })
        document.body.append(frame)
        await loaded
      })
      const [, frame] = page.frames()
      if (frame === undefined) throw new Error('the page has no frame')
      await rm(join(project.root, 'dist/assets', await lazyOf(project)))
      const openRoute = 'void route().catch(() => {})'
      await Promise.all([page.waitForEvent('framenavigated'), frame.evaluate(openRoute)])
      expect(loads()).toBe(1)
      await Promise.all([page.waitForEvent('load'), page.evaluate(openRoute)])
      expect(loads()).toBe(2)
    })

    test('reloads once for a page that immediately imports a missing chunk', async () => {
      const host = await listenForFolder()
      const { page, project, loads } = await openSite(host)
      await rm(join(project.root, 'dist/assets', await lazyOf(project)))
      await page.evaluate(() => sessionStorage.clear())
      await page.goto(`${host.origin}/?at-once`)
      await expect.poll(() => page.title().catch(() => '')).toBe('TypeError')
      // The first visit, this visit and its reload.
      expect(loads()).toBe(3)
    })

    test('reloads once for a missing stylesheet', async () => {
      const host = await listenForFolder()
      const { page, project, loads } = await openSite(host)
      await project.write('lazy.css', 'p { color: red }')
      await project.write('lazy.js', "import './lazy.css'\nexport default 'a lazy route'")
      await buildSite(build, project)
      await page.reload()
      const style = (await project.list('dist/assets')).find((name) => name.endsWith('.css')) ?? ''
      await rm(join(project.root, 'dist/assets', style))
      await Promise.all([openRoutes(page), page.waitForEvent('load')])
      expect(await openRoutes(page)).toContain('Error')
      expect(loads()).toBe(3)
    })

    test('reloads once if the page has no storage', async () => {
      // The sandbox gives the page an opaque origin, so that sessionStorage throws.
      const host = await listenForFolder({ 'Content-Security-Policy': 'sandbox allow-scripts' })
      const { page, project, loads } = await openSite(host)
      expect(await page.evaluate(storageError)).toBe('SecurityError')
      await rm(join(project.root, 'dist/assets', await lazyOf(project)))
      await Promise.all([openRoutes(page), page.waitForEvent('load')])
      expect(await openRoutes(page)).toEqual(['TypeError', 'TypeError'])
      expect(loads()).toBe(2)
    })

    test('does not reload for a chunk that throws', async () => {
      const host = await listenForFolder()
      const { page, project, loads } = await openSite(host)
      await project.write('lazy.js', 'export default undefined.name')
      await buildSite(build, project)
      await page.reload()
      expect(await openRoutes(page)).toEqual(['TypeError', 'TypeError'])
      expect(loads()).toBe(2)
    })

    test('does not reload or hide errors if the storage is full', async () => {
      const host = await listenForFolder()
      const { page, project, loads } = await openSite(host)
      await page.evaluate(fillStorage)
      await rm(join(project.root, 'dist/assets', await lazyOf(project)))
      expect(await openRoutes(page)).toEqual(['TypeError', 'TypeError'])
      expect(loads()).toBe(1)
    })

    test('does not reload while the browser is offline', async () => {
      const host = await listenForFolder()
      const { page, loads } = await openSite(host)
      await page.context().setOffline(true)
      expect(await openRoutes(page)).toEqual(['TypeError', 'TypeError'])
      await page.context().setOffline(false)
      expect(loads()).toBe(1)
    })
  })
})

/** Returns the name of the lazy chunk. */
async function lazyOf(project: Project): Promise<string> {
  return (await project.list('dist/assets')).find((name) => name.startsWith('lazy')) ?? ''
}

/** Imports the lazy chunk twice. Returns the type of the module or the name of the error for each. */
function openRoutes(page: Page): Promise<string[]> {
  // A reload may interrupt the evaluation.
  return page.evaluate(importTwice).catch(() => ['undefined', 'undefined'])
}

async function importTwice(): Promise<string[]> {
  const { route } = Object(globalThis)
  const settled = await Promise.allSettled([route(), route()])
  return settled.map((one) => (one.status === 'rejected' ? one.reason.name : typeof one.value))
}

function fillStorage(): void {
  for (let size = 1e7; size >= 1; size /= 2) {
    try {
      sessionStorage.setItem(`full ${size}`, 'x'.repeat(size))
    } catch {
      // Try a smaller size.
    }
  }
}

function storageError(): string {
  try {
    return typeof sessionStorage
  } catch (error) {
    return error instanceof Error ? error.name : 'thrown'
  }
}

async function deploy(project: Project, buildId: string): Promise<void> {
  await project.write('dist/__serve-dist/build.json', JSON.stringify({ buildId }))
}

/** Calls `watchForUpdates` of the page again. */
async function watch(page: Page, interval?: number): Promise<void> {
  await page.evaluate(
    (options) => {
      const { watchForUpdates, stop } = Object(globalThis)
      stop?.()
      Object.assign(globalThis, { stop: watchForUpdates(options) })
    },
    interval === undefined ? {} : { interval },
  )
}

function updatesOf(page: Page): Promise<string[]> {
  return page.evaluate(() => Object(globalThis).updates)
}
