import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import legacy from '@vitejs/plugin-legacy'
import { build } from 'vite'
import { VitePWA } from 'vite-plugin-pwa'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject, type Project } from './support/project.ts'
import { isChosen } from './support/vites.ts'

/** Returns the URLs that a service worker fetches during its installation. The installation fails if one is missing. */
async function precached(project: Project): Promise<string[]> {
  const worker = await readFile(join(project.root, 'dist/sw.js'), 'utf8')
  return [...worker.matchAll(/"url": "([^"]+)"/g)].flatMap(([, url]) => url ?? [])
}

describe.runIf(isChosen({ name: 'Vite 8' }))('serveDist with other plugins', () => {
  test('shows a service worker only served files, in a folder that is not emptied', async () => {
    const project = await createProject(application)
    const workbox = { globPatterns: ['**/*'] }
    const pwa = VitePWA({ workbox, injectRegister: false, manifest: false, mode: 'development' })
    const config = () => project.config({ plugins: [pwa, serveDist()], build: { emptyOutDir: false } })
    await build(config())
    const first = await project.classes()
    await project.write('lazy.js', 'export default "another"')
    await build(config())
    const served = await project.classes()
    const urls = await precached(project)
    expect(urls.filter((url) => !Object.hasOwn(served, url))).toEqual([])
    expect(urls.length).toBeGreaterThan(4)
    // The chunk of the earlier build still exists, unchanged.
    const earlier = Object.keys(first).filter((path) => path.startsWith('assets/lazy-'))
    expect(earlier.map((path) => served[path])).toEqual(['immutable'])
    const variants = (await project.manifest()).files.flatMap((file) => file.variants)
    expect(variants.length).toBeGreaterThan(0)
  })

  test('recognizes hashes in names of scripts for old browsers and of polyfills', async () => {
    const project = await createProject(application)
    const plugins = [legacy({ targets: ['chrome 60'], modernPolyfills: ['es.array.at'] }), serveDist()]
    await build(project.config({ plugins }))
    const scripts = Object.entries(await project.classes()).filter(([path]) => path.endsWith('.js'))
    expect(scripts.map(([path]) => path.replace(/-[\w-]{8}\.js$/, ''))).toEqual(
      expect.arrayContaining(['assets/polyfills', 'assets/polyfills-legacy', 'assets/index-legacy']),
    )
    expect(scripts.map(([, cache]) => cache)).toEqual(scripts.map(() => 'immutable'))
    const { files } = await project.manifest()
    expect(files.map(({ stem }) => stem)).toContain('assets/polyfills-legacy-[hash].js')
  })
})
