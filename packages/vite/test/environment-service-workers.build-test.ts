import { join } from 'node:path'
import { VitePWA } from 'vite-plugin-pwa'
import { describe, expect, test } from 'vitest'
import { chromiumPath } from '../../../e2e/src/launch-chromium.ts'
import serveDist from '../src/index.ts'
import { createProject, type Project } from './support/project.ts'
import { listenForFolder } from './support/serve-folder.ts'
import { useChromium } from './support/use-chromium.ts'
import { isChosen, vites } from './support/vites.ts'

const options = { env: { STAGE: { default: 'first' } } }
const page =
  '<!doctype html><html><head><title>t</title><link rel="icon" href="data:,"><script type="module" src="/main.js"></script></head><body></body></html>'

const openPage = useChromium()

describe.each(vites)('virtual:serve-dist/env in a service worker by $name', ({ build }) => {
  test.runIf(chromiumPath)(
    'works as a module and follows changes if it is an input of the build',
    async () => {
      const project = await createProject({
        'index.html': page,
        'main.js': `
const ask = async () => {
  const { active } = await navigator.serviceWorker.ready
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = ({ data }) => resolve(data)
    active.postMessage('?', [port2])
  })
}
window.register = (type) => navigator.serviceWorker.register('/sw.js', { type }).then(ask, (error) => error.name)
window.update = async () => {
  const registration = await navigator.serviceWorker.ready
  const changed = new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve))
  await registration.update()
  await changed
  return ask()
}
window.isReady = true`,
        'sw.js': `import env from 'virtual:serve-dist/env'
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('message', ({ ports }) => ports[0].postMessage(env.STAGE))`,
      })
      const input = ['index.html', 'sw.js'].map((name) => join(project.root, name))
      const output = { entryFileNames: '[name].js' }
      await build(project, { plugins: [serveDist(options)], build: { rollupOptions: { input, output } } })
      const host = await listenForFolder({ 'Cache-Control': 'no-cache' })
      host.serve(join(project.root, 'dist'))
      const { page: opened } = await openPage()
      await opened.goto(host.origin)
      await opened.waitForFunction(() => Object(globalThis).isReady)
      expect(await opened.evaluate(() => Object(globalThis).register('classic'))).toBe('TypeError')
      expect(await opened.evaluate(() => Object(globalThis).register('module'))).toBe('first')
      await project.write('dist/serve-dist-env.js', 'export default { STAGE: "second" }')
      expect(await opened.evaluate(() => Object(globalThis).update())).toBe('second')
    },
  )

  test('rejects a service worker that Vite copies unchanged', async () => {
    const project = await createProject({
      'index.html': page,
      'main.js': `navigator.serviceWorker.register(new URL('./sw.ts', import.meta.url))`,
      'sw.ts': `import env from 'virtual:serve-dist/env'\nconsole.log(env.STAGE)`,
    })
    const config = { plugins: [serveDist(options)], build: { assetsInlineLimit: 0 } }
    await expect(build(project, config)).rejects.toThrow(
      /assets\/sw-[\w-]{8}\.ts \(sw\.ts\): Vite copies this script unchanged/,
    )
  })
})

async function warningsOf(project: Project, pwa: Parameters<typeof VitePWA>[0]): Promise<string[]> {
  const { build } = await import('vite')
  const plugins = [VitePWA({ injectRegister: false, ...pwa }), serveDist(options)]
  await build(project.config({ plugins, logLevel: 'warn' }))
  return project.logger.warnings.splice(0).filter((warning) => warning.includes('precaches'))
}

describe.runIf(isChosen({ name: 'Vite 8' }))('virtual:serve-dist/env with vite-plugin-pwa', () => {
  test('warns about the precache list, and accepts the suggested exclusion', async () => {
    const project = await createProject({
      'index.html': page,
      'main.js': `import env from 'virtual:serve-dist/env'\nconsole.log(env.STAGE)`,
      'src/sw.js': 'self.list = self.__WB_MANIFEST',
    })
    const ignored = { globIgnores: ['**/serve-dist-env.js'] }
    const inject = { strategies: 'injectManifest', srcDir: 'src', filename: 'sw.js' } as const
    const told = [
      expect.stringMatching(
        /sw\.js precaches serve-dist-env\.js, so .*globIgnores: \['\*\*\/serve-dist-env\.js'\]/,
      ),
    ]
    expect(await warningsOf(project, {})).toEqual(told)
    expect(await warningsOf(project, { workbox: ignored })).toEqual([])
    expect(await warningsOf(project, inject)).toEqual(told)
    expect(await warningsOf(project, { ...inject, injectManifest: ignored })).toEqual([])
    expect(await project.read('dist/sw.js')).toContain('index.html')
  })

  test('fails in the service worker that the plugin builds', async () => {
    const project = await createProject({
      'index.html': page,
      'main.js': '',
      'src/sw.js': `import env from 'virtual:serve-dist/env'\nconsole.log(env.STAGE, self.__WB_MANIFEST)`,
    })
    const pwa = { strategies: 'injectManifest', srcDir: 'src', filename: 'sw.js' } as const
    await expect(warningsOf(project, pwa)).rejects.toThrow(
      /failed to resolve import "virtual:serve-dist\/env" from ".*src\/sw\.js"/,
    )
  })

  test.runIf(chromiumPath)('keeps the last values offline with the documented rule', async () => {
    const project = await createProject({
      'index.html': page,
      'main.js': `import env from 'virtual:serve-dist/env'
window.said = env.STAGE
navigator.serviceWorker.register('/sw.js')
navigator.serviceWorker.ready.then(() => { window.isReady = true })`,
    })
    const workbox = {
      globIgnores: ['**/serve-dist-env.js'],
      runtimeCaching: [{ urlPattern: /\/serve-dist-env\.js$/, handler: 'NetworkFirst' as const }],
      clientsClaim: true,
      skipWaiting: true,
    }
    expect(await warningsOf(project, { workbox })).toEqual([])
    const host = await listenForFolder({ 'Cache-Control': 'no-cache' })
    host.serve(join(project.root, 'dist'))
    const { page: opened } = await openPage()
    const visit = async (): Promise<unknown> => {
      await opened.goto(host.origin)
      await opened.waitForFunction(() => Object(globalThis).isReady)
      return await opened.evaluate(() => Object(globalThis).said)
    }
    expect(await visit()).toBe('first')
    await project.write('dist/serve-dist-env.js', 'export default { STAGE: "second" }')
    expect(await visit()).toBe('second')
    await opened.context().setOffline(true)
    expect(await visit()).toBe('second')
  })
})
