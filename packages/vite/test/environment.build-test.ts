import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Plugin } from 'vite'
import serveDist from '../src/index.ts'
import type { ServeDistOptions } from '../src/index.ts'
import { createProject, type Project, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

const options: ServeDistOptions = {
  env: { API_URL: { required: true }, RELEASE: { default: 'dev' }, LIMIT: { type: 'number', default: 10 } },
}

const head = '<!doctype html><html><head><meta charset="utf-8"><title>t</title>'

/** One page that imports the environment statically, one dynamically, and one without it. */
const site: Record<string, string> = {
  'index.html': `${head}<script type="module" src="/main.js"></script></head></html>`,
  'deep/later.html': `${head}<script type="module" src="/later.js"></script></head></html>`,
  'deep/plain.html': `${head}<script type="module" src="/plain.js"></script></head></html>`,
  'main.js': `import { api } from './shared.js'\nconsole.log(api, ${JSON.stringify(prose('main'))})`,
  'later.js': `import('./shared.js').then(({ api }) => console.log(api, ${JSON.stringify(prose('later'))}))\n
    import('virtual:serve-dist/env').then((module) => console.log(module.default.LIMIT))`,
  'plain.js': `console.log(${JSON.stringify(prose('plain'))})`,
  'shared.js': `import env from 'virtual:serve-dist/env'\nexport const api = env.API_URL + ${JSON.stringify(prose('shared'))}
export function fail() { throw new Error(env.RELEASE) }\nconsole.log(fail)`,
}

function pagesOf(project: Project): { input: string[] } {
  return {
    input: ['index.html', 'deep/later.html', 'deep/plain.html'].map((name) => join(project.root, name)),
  }
}

/** Returns the URLs by which the scripts of a build import the environment module. */
async function importsIn(project: Project): Promise<{ path: string; url: string }[]> {
  const scripts = (await project.list()).filter(
    (path) => path.endsWith('.js') && path !== 'serve-dist-env.js',
  )
  const found: { path: string; url: string }[] = []
  for (const path of scripts) {
    const text = await project.read(join('dist', path))
    for (const [, url = ''] of text.matchAll(/(?:from|import\()\s*["'`]([^"'`]*serve-dist-env\.js)["'`]/g)) {
      found.push({ path, url })
    }
  }
  return found
}

const deepNames = {
  entryFileNames: 'js/[name]-[hash].js',
  chunkFileNames: 'js/deep/er/[name]-[hash].js',
}

describe.each(vites)('virtual:serve-dist/env by $name', ({ name, build }) => {
  test.each([
    ['/', '/serve-dist-env.js'],
    ['/app/', '/app/serve-dist-env.js'],
    ['./', undefined],
    ['', undefined],
    ['https://cdn.example.org/x/', 'https://cdn.example.org/x/serve-dist-env.js'],
  ])('is a module that chunks import by its URL under the base %j', async (base, main) => {
    const project = await createProject(site)
    await build(project, {
      base,
      plugins: [serveDist(options)],
      build: { rollupOptions: { ...pagesOf(project), output: deepNames } },
    })
    const imports = await importsIn(project)
    expect(imports.length).toBeGreaterThanOrEqual(2)
    const resolved = imports.map(({ path, url }) => (main === undefined ? join('/', path, '..', url) : url))
    expect(new Set(resolved)).toEqual(new Set([main ?? '/serve-dist-env.js']))
    const isDeep = imports.some(({ url }) => url === '../../../serve-dist-env.js')
    expect(isDeep).toBe(main === undefined)
    const module = await project.read('dist/serve-dist-env.js')
    expect(module).toBe(
      String.raw`export default Object.freeze(JSON.parse("{\"RELEASE\":\"dev\",\"LIMIT\":10}"))` + '\n',
    )
  })

  test("is preloaded by pages with static imports, announced with them, and listed in Vite's manifest", async () => {
    const project = await createProject(site)
    await build(project, {
      plugins: [serveDist(options)],
      build: { rollupOptions: pagesOf(project), manifest: true },
    })
    const link = '<link rel="modulepreload" crossorigin href="/serve-dist-env.js" />'
    const page = await project.read('dist/index.html')
    expect(page.indexOf(link)).toBeGreaterThan(page.indexOf('<meta'))
    expect(page.indexOf(link)).toBeLessThan(page.indexOf('<script'))
    expect(await project.read('dist/deep/later.html')).not.toContain('serve-dist-env.js')
    expect(await project.read('dist/deep/plain.html')).not.toContain('serve-dist-env.js')

    const manifest = await project.manifest()
    expect(manifest.environment).toEqual({
      path: 'serve-dist-env.js',
      prefix: '',
      variables: {
        API_URL: { type: 'string', required: true },
        LIMIT: { type: 'number', default: 10 },
        RELEASE: { type: 'string', default: 'dev' },
      },
    })
    const module = manifest.files.find(({ path }) => path === 'serve-dist-env.js')
    expect(module).toMatchObject({ runtime: true, cache: 'revalidate', variants: [] })
    const linked = manifest.files.filter(({ links = [] }) => links.some(({ path }) => path === module?.path))
    expect(linked.map(({ path }) => path)).toEqual(['index.html'])
    expect(manifest.files.filter(({ cache }) => cache === 'immutable').length).toBeGreaterThan(2)

    // Backends follow the imports in Vite's own manifest.
    const ofVite: Record<string, { file: string; imports?: string[]; dynamicImports?: string[] }> =
      JSON.parse(await project.read('dist/.vite/manifest.json'))
    expect(Object.values(ofVite).map(({ file }) => file)).toContain('serve-dist-env.js')
    const followed = Object.values(ofVite).flatMap(({ imports = [], dynamicImports = [] }) =>
      imports.concat(dynamicImports),
    )
    expect(followed.filter((key) => !(key in ofVite))).toEqual([])
  })

  test("is preloaded after a page's import map, because older browsers ignore a later map", async () => {
    const own = '<script type="importmap">{"imports":{}}</script>'
    const page = `${head}${own}<script type="module" src="/main.js"></script></head></html>`
    for (const base of ['/', 'https://cdn.example.org/']) {
      const project = await createProject({ ...site, 'index.html': page })
      await build(project, { base, plugins: [serveDist(options)] })
      const built = await project.read('dist/index.html')
      expect(built.indexOf('type="importmap"')).toBeLessThan(built.indexOf('rel="modulepreload"'))
    }
  })

  test('is announced by the server if pages preload nothing', async () => {
    const project = await createProject(site)
    await build(project, {
      plugins: [serveDist(options)],
      build: { rollupOptions: pagesOf(project), modulePreload: false },
    })
    expect(await project.read('dist/index.html')).not.toContain('serve-dist-env.js')
    const { files } = await project.manifest()
    const linked = files.flatMap(({ path, links = [] }) =>
      links
        .filter((link) => link.path === 'serve-dist-env.js')
        .map(({ rel, inDocument }) => [path, rel, inDocument]),
    )
    expect(linked).toEqual([['index.html', 'modulepreload', false]])
  })

  test.each(['./', ''])('is preloaded relative to the page under the base %j', async (base) => {
    const project = await createProject({ ...site, 'later.js': site['main.js'] ?? '' })
    await build(project, { base, plugins: [serveDist(options)], build: { rollupOptions: pagesOf(project) } })
    expect(await project.read('dist/index.html')).toContain('href="./serve-dist-env.js"')
    expect(await project.read('dist/deep/later.html')).toContain('href="../serve-dist-env.js"')
  })

  test('changes the names of chunks when its URL changes', async () => {
    const names: string[][] = []
    for (const envFileName of ['one.js', 'two.js']) {
      const project = await createProject(site)
      await build(project, {
        plugins: [serveDist({ ...options, envFileName })],
        build: { rollupOptions: pagesOf(project) },
      })
      const hashed = Object.entries(await project.classes()).filter(([, cache]) => cache === 'immutable')
      names.push(hashed.map(([path]) => path).filter((path) => path.includes('shared')))
    }
    expect(names[0]).not.toEqual(names[1])
  })

  test.each([true, false])('keeps source maps correct (minified: %j)', async (isMinified) => {
    const project = await createProject(site)
    await build(project, {
      base: './',
      plugins: [serveDist(options)],
      build: {
        rollupOptions: pagesOf(project),
        sourcemap: true,
        ...(!isMinified && { minify: false }),
      },
    })
    const path = (await importsIn(project)).find((found) => found.path.includes('shared'))?.path ?? ''
    const lines = (await project.read(join('dist', path))).split('\n')
    const row = lines.findIndex((line) => line.includes('throw'))
    const column = (lines[row] ?? '').indexOf('Error(')
    const map = new SourceMap(JSON.parse(await project.read(join('dist', `${path}.map`))))
    const entry = Object(map.findEntry(row, column))
    const source = (site['shared.js'] ?? '').split('\n')
    expect(entry.originalSource).toContain('shared.js')
    expect(source[entry.originalLine]?.slice(entry.originalColumn)).toMatch(/^(?:new )?Error\(/)
  })

  test('is not part of a build that does not import it, with a warning', async () => {
    const project = await createProject({ ...site, 'shared.js': 'export const api = 1', 'later.js': '1' })
    await build(project, { plugins: [serveDist(options)], build: { rollupOptions: pagesOf(project) } })
    expect(await project.list()).not.toContain('serve-dist-env.js')
    expect((await project.manifest()).environment).toBeUndefined()
    expect(project.logger.warnings.join()).toMatch(/no script for browsers imports "virtual:serve-dist\/env"/)
  })

  test('is rejected if the options do not declare it', async () => {
    const project = await createProject(site)
    const built = build(project, { build: { rollupOptions: pagesOf(project) } })
    await expect(built).rejects.toThrow(/in the option "env", such as serveDist\(\{ env:/)
  })

  test("is rejected if the code imports a name of it, or Vite's configuration makes it external", async () => {
    const index = '<!doctype html><script type="module" src="/main.ts"></script>'
    const main = "\nimport { API_URL } from 'virtual:serve-dist/env'\nconsole.log(API_URL as string)"
    const project = await createProject({ 'index.html': index, 'main.ts': main })
    const config = { plugins: [serveDist(options)] }
    await expect(build(project, config)).rejects.toThrow(
      /main\.ts:2: .*import env from "virtual:serve-dist\/env", and env\.API_URL/,
    )
    await project.write('main.ts', "import env from 'virtual:serve-dist/env'\nconsole.log(env)")
    const left = build(project, { ...config, build: { rollupOptions: { external: /^virtual:/ } } })
    await expect(left).rejects.toThrow(/assets\/index-.*\.js: .*rollupOptions\.external/)
  })

  test.runIf(name === 'Vite 8')('is rejected if CommonJS code requires it', async () => {
    const required = "module.exports = require('virtual:serve-dist/env')"
    const project = await createProject({ ...site, 'main.js': "import './main.cjs'", 'main.cjs': required })
    const built = build(project, { plugins: [serveDist(options)] })
    await expect(built).rejects.toThrow(/main\.cjs:1: .*require/)
  })

  test('is rejected in a page with its integrity digest', async () => {
    const project = await createProject(site)
    const integrity: Plugin = {
      name: 'integrity',
      enforce: 'post',
      generateBundle(_output, bundle) {
        for (const file of Object.values(bundle))
          if (file.fileName === 'index.html' && file.type === 'asset')
            file.source = String(file.source).replaceAll(' crossorigin', ' crossorigin integrity="sha384-x"')
      },
    }
    const built = build(project, { plugins: [integrity, serveDist(options)] })
    await expect(built).rejects.toThrow(/index\.html: "integrity" fixes the content of serve-dist-env\.js/)
  })

  test('is rejected if public/ has a file of the same name', async () => {
    const project = await createProject({ ...site, 'public/serve-dist-env.js': '' })
    const built = build(project, { plugins: [serveDist(options)] })
    await expect(built).rejects.toThrow(/serve-dist-env\.js: .* Rename your file, or .* "envFileName"/)
  })
})
