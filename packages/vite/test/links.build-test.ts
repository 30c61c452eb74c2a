import { request } from 'node:http'
import { join } from 'node:path'
import type { ManifestLink } from '@serve-dist/manifest'
import { serve } from '@serve-dist/server'
import type { Plugin } from 'vite'
import { describe, expect, onTestFinished, test } from 'vitest'
import serveDist from '../src/index.ts'
import { createProject, type Project, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

const head = '<!doctype html><title>t</title>'

/** Two pages that share a chunk, with styles at each level, and a lazy chunk with its own style. */
const site: Record<string, string> = {
  'index.html': `${head}<script type="module" src="/main.js"></script>`,
  'guide/start.html': `${head}<script type="module" src="../guide.js"></script>`,
  'main.js': `import { shared } from './shared.js'; import './main.css'
    console.log(shared, ${JSON.stringify(prose('main'))}); import('./lazy.js')`,
  'guide.js': `import { shared } from './shared.js'; console.log(shared, ${JSON.stringify(prose('guide'))})`,
  'shared.js': `import './shared.css'; export const shared = ${JSON.stringify(prose('shared'))}`,
  'lazy.js': `import './lazy.css'; export default ${JSON.stringify(prose('lazy'))}`,
  'main.css': `@font-face { font-family: Own; src: url(./own.woff2) format('woff2'), url(./own.woff) }
    body { color: red; font-family: Own }`,
  'shared.css': 'p { color: green }',
  'lazy.css': 'i { color: blue }',
  'own.woff2': 'a font',
  'own.woff': 'an old font',
}

function inputsOf(project: Project): { input: string[] } {
  return { input: ['index.html', 'guide/start.html'].map((name) => join(project.root, name)) }
}

/** Removes all links from the pages, as a plugin may do. */
const stripLinks: Plugin = {
  name: 'strip-links',
  transformIndexHtml: { order: 'post', handler: (html) => html.replaceAll(/<link [^>]*>/g, '') },
}

/** Returns `rel name` of each link without hashes, with `!` if the page does not contain the link. */
async function linksOf(project: Project, page: string, folder = 'dist'): Promise<string[]> {
  const { files } = await project.manifest(folder)
  return (files.find(({ path }) => path === page)?.links ?? []).map(
    ({ path, rel, inDocument }) => `${rel} ${withoutHash(path)}${inDocument ? '' : ' !'}`,
  )
}

function withoutHash(path: string): string {
  return path.replace(/-[\w-]{8}(?=\.\w+$)/, '')
}

describe.each(vites)('the links of pages by $name', ({ name, build }) => {
  test("are the static dependencies of each page, all in Vite's own pages", async () => {
    const project = await createProject(site)
    await build(project, { build: { rollupOptions: inputsOf(project), assetsInlineLimit: 0 } })
    expect(await linksOf(project, 'index.html')).toEqual([
      'preload assets/shared.css',
      'preload assets/index.css',
      'modulepreload assets/index.js',
      'modulepreload assets/shared.js',
    ])
    expect(await linksOf(project, 'guide/start.html')).toEqual([
      'preload assets/shared.css',
      'modulepreload assets/start.js',
      'modulepreload assets/shared.js',
    ])
    const { files } = await project.manifest()
    const styles = files.flatMap(({ links = [] }) => links).filter(({ as }) => as === 'style')
    expect(styles.map(({ crossorigin }) => crossorigin)).toEqual([true, true, true])
  })

  test.runIf(name === 'Vite 8')('contain the scripts of a page with an import map of chunks', async () => {
    const project = await createProject(site)
    await build(project, {
      plugins: [stripLinks, serveDist({ serving: { csp: true } })],
      build: { rollupOptions: inputsOf(project), assetsInlineLimit: 0, chunkImportMap: true },
    })
    expect(await project.read('dist/index.html')).toContain('<script type="importmap">')
    expect(await linksOf(project, 'index.html')).toEqual([
      'preload assets/shared.css !',
      'preload assets/index.css !',
      'preload assets/index.js',
      'preload assets/shared.js !',
    ])
    const { files } = await project.manifest()
    const page = files.find(({ path }) => path === 'index.html')
    expect(page?.policy?.scripts).toHaveLength(1)
    expect(files.filter(({ path, cache }) => path.startsWith('assets/') && cache !== 'immutable')).toEqual([])
  })

  test('list files that a page does not name, with fonts by option', async () => {
    const project = await createProject(site)
    await build(project, {
      plugins: [stripLinks, serveDist({ preload: { fonts: true } })],
      build: { rollupOptions: inputsOf(project), assetsInlineLimit: 0 },
    })
    expect(await linksOf(project, 'index.html')).toEqual([
      'preload assets/shared.css !',
      'preload assets/index.css !',
      'modulepreload assets/index.js',
      'modulepreload assets/shared.js !',
      'preload assets/own.woff2 !',
    ])
  })

  test.each([
    [
      '/my app/',
      ['preload assets/style.css', 'modulepreload assets/index.js', 'modulepreload assets/shared.js !'],
    ],
    ['./', ['preload assets/style.css', 'modulepreload assets/index.js', 'modulepreload assets/shared.js !']],
    ['https://cdn.example/v1/', []],
  ])("work with one stylesheet and without Vite's preloads, under base %j", async (base, expected) => {
    const project = await createProject(site)
    await build(project, {
      base,
      build: {
        rollupOptions: inputsOf(project),
        assetsInlineLimit: 0,
        cssCodeSplit: false,
        modulePreload: false,
      },
    })
    expect(await linksOf(project, 'index.html')).toEqual(expected)
  })

  test('exclude scripts for old browsers and inlined styles, and can be disabled', async () => {
    const files = {
      ...site,
      'main.js': `import css from './main.css?inline'; console.log(css, ${JSON.stringify(prose('main'))})`,
    }
    const legacy: Plugin = {
      name: 'legacy',
      transformIndexHtml: {
        order: 'post',
        handler: (html) => `${html}<script nomodule src="/old.js"></script>`,
      },
    }
    const project = await createProject({ ...files, 'public/old.js': prose('old') })
    const config = (preload: false | undefined) => ({
      plugins: [legacy, serveDist(preload === false ? { preload } : {})],
    })
    await build(project, config(undefined))
    expect(await linksOf(project, 'index.html')).toEqual(['modulepreload assets/index.js'])
    await build(project, config(false))
    expect(await linksOf(project, 'index.html')).toEqual([])
  })

  test('cover pages that were written after the bundle', async () => {
    const project = await createProject(site)
    const prerender: Plugin = {
      name: 'prerender',
      async closeBundle() {
        const names = await project.list()
        const script = names.find((path) => /assets\/index-.*\.js$/.test(path))
        await project.write('dist/about.html', `${head}<script type=module src=/${script}></script>`)
      },
    }
    await build(project, { plugins: [prerender, serveDist()], build: { modulePreload: false } })
    expect(await linksOf(project, 'about.html')).toEqual([
      'preload assets/index.css !',
      'modulepreload assets/index.js',
    ])
  })
})

interface HintedAnswer {
  readonly status: number
  readonly link: string | undefined
  /** The `Link` fields of earlier 103 responses. */
  readonly hints: readonly (string | undefined)[]
}

function ask(url: string): Promise<HintedAnswer> {
  return new Promise((resolve, reject) => {
    const hints: (string | undefined)[] = []
    const sent = request(url, { agent: false }, (response) => {
      response.resume()
      response.on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, link: linkOf(response.headers), hints })
      })
    })
    sent.on('information', ({ statusCode, headers }) => {
      if (statusCode === 103) hints.push(linkOf(headers))
    })
    sent.on('error', reject)
    sent.end()
  })
}

function linkOf({ link }: NodeJS.Dict<string | string[]>): string | undefined {
  return Array.isArray(link) ? link.join(', ') : link
}

/** Returns a member of a `Link` field in the server's format. */
function memberOf(base: string, { path, rel, as }: ManifestLink): string {
  return `<${base}${path}>; rel=${rel}${as === undefined ? '' : `; as=${as}`}; crossorigin`
}

describe.each(vites)('the server of a build by $name', ({ build }) => {
  test.each([true, false])(
    'announces missing links on the 200, and all links on a 103 if the option is on (%s)',
    async (earlyHints) => {
      const project = await createProject(site)
      await build(project, {
        plugins: [
          serveDist({ serving: { earlyHints, headers: { '*.html': { 'X-Frame-Options': 'DENY' } } } }),
        ],
        base: '/my app/',
        build: { rollupOptions: inputsOf(project), modulePreload: false },
      })
      const manifest = await project.manifest()
      expect(manifest).toMatchObject({ base: '/my app/', serving: { earlyHints } })
      const links = manifest.files.find(({ path }) => path === 'index.html')?.links ?? []
      expect(links.map(({ inDocument }) => inDocument)).toEqual([true, true, true, false])

      const server = await serve({ directory: join(project.root, 'dist'), port: 0 })
      onTestFinished(() => server.close())
      const { origin } = new URL(server.url)
      expect(await ask(`${origin}/my%20app/`)).toEqual({
        status: 200,
        link: links
          .slice(3)
          .map((link) => memberOf('/my%20app/', link))
          .join(', '),
        hints: earlyHints ? [links.map((link) => memberOf('/my%20app/', link)).join(', ')] : [],
      })
      const script = links.find(({ rel }) => rel === 'modulepreload')?.path ?? ''
      expect(await ask(`${origin}/my%20app/${script}`)).toEqual({ status: 200, link: undefined, hints: [] })
    },
  )
})
