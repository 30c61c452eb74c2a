import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../src/launch-chromium.ts'
import { openPage } from '../src/open-page.ts'
import { readManifest } from '../src/read-manifest.ts'
import { startCommand } from '../src/start-command.ts'
import { expectWholeBuild, compressionSummaries, withoutTimes } from './support/expect-whole-build.ts'
import { type FrameworkProject, prepareFixture } from './support/framework-project.ts'
import { serveAndVisit } from './support/serve-and-visit.ts'

let project: FrameworkProject
beforeAll(async () => {
  project = await prepareFixture('plain')
})
afterAll(() => project?.remove())

const hashed = /^assets\//
const workbox = "{ globPatterns: ['**/*'] }"
const plugins = [
  {
    name: '@vitejs/plugin-legacy',
    source: "import legacy from '@vitejs/plugin-legacy'",
    plugin: 'legacy()',
    files: [/^assets\/polyfills-legacy-.+\.js$/],
    // The plugin detects modern browsers with a script in a `data:` URL, which a policy blocks.
    csp: 'off',
  },
  {
    name: '@vitejs/plugin-legacy, without old chunks',
    source: "import legacy from '@vitejs/plugin-legacy'",
    plugin: 'legacy({ renderLegacyChunks: false, modernPolyfills: true })',
    files: [/^assets\/polyfills-.+\.js$/],
  },
  {
    name: 'vite-plugin-pwa, generateSW',
    source: "import { VitePWA } from 'vite-plugin-pwa'",
    plugin: `VitePWA({ workbox: ${workbox} })`,
    files: [/^sw\.js$/],
  },
  {
    name: 'vite-plugin-pwa, injectManifest',
    source: "import { VitePWA } from 'vite-plugin-pwa'",
    plugin: `VitePWA({ strategies: 'injectManifest', srcDir: 'src', filename: 'sw.js', injectManifest: ${workbox} })`,
    files: [/^sw\.js$/],
  },
]

describe.each(plugins)('$name', ({ source, plugin, files, csp }) => {
  test('has a complete manifest, and is served', async () => {
    await configure([source, plugin, 'serveDist()'])
    expect(compressionSummaries(await project.build())).toHaveLength(1)
    const manifest = await expectWholeBuild({ project, folder: 'dist', hashed, pages: ['404.html'] })
    const names = manifest.files.map((file) => file.path)
    for (const file of files) expect(names).toContainEqual(expect.stringMatching(file))
    await serveAndVisit({
      project,
      args: [],
      pages: { '/': 'Lighthouses', '/about': 'About' },
      notFound: { path: '/nowhere', heading: 'No such page' },
      isClientRouted: false,
      ...(csp && { csp }),
    })
  })

  test('gets the same manifest from the command', async () => {
    const folder = path.join(project.folder, 'dist')
    const expected = withoutTimes(await readManifest(folder))
    await configure([source, plugin, 'serveDist({ pass: false })'])
    await project.build()
    await project.compress('dist')
    expect(withoutTimes(await readManifest(folder))).toEqual(expected)
  })
})

describe.each(plugins.filter(({ name }) => name.includes('pwa')))('$name', ({ source, plugin }) => {
  // Files of an earlier build must not count as files of this one.
  test('installs its service worker after a second build', async () => {
    await configure([source, plugin, 'serveDist()'], { emptyOutDir: false })
    await project.build()
    expect(compressionSummaries(await project.build())).toHaveLength(1)
    await expectWholeBuild({ project, folder: 'dist', hashed, pages: ['sw.js'] })
    await expectServiceWorker(project)
  })
})

async function configure([source, ...used]: readonly string[], build = {}): Promise<void> {
  const input = ['index.html', 'about.html', '404.html']
  await project.write({
    'vite.config.js': `import serveDist from '@serve-dist/vite'
${source}
export default {
  plugins: [${used.join()}],
  build: ${JSON.stringify({ rolldownOptions: { input }, ...build })},
}`,
  })
}

async function isWorkerActive(): Promise<boolean> {
  const registration = await navigator.serviceWorker.getRegistration()
  return registration?.active?.state === 'activated'
}

/** Lets Chromium install the worker, which requests all precached files. */
async function expectServiceWorker({ command, folder }: FrameworkProject): Promise<void> {
  const server = await startCommand(command, { args: ['--port', '0'], cwd: folder })
  const browser = await launchChromium()
  try {
    const { page, complaints } = await openPage(browser)
    await page.goto(server.url.href, { waitUntil: 'networkidle' })
    await page.waitForFunction(isWorkerActive, undefined, { timeout: 20_000 })
    expect(complaints).toEqual([])
  } finally {
    await browser.close()
    await server.stop()
  }
}
