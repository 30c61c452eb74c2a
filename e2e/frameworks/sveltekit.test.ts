import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readManifest } from '../src/read-manifest.ts'
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
import { expectedStages, visitStages } from './support/visit-stages.ts'

const integration = '@serve-dist/vite/sveltekit'
const pages = { '/': 'The harbour', '/tides': 'Tides', '/guide/knots': 'Knots' }
const pagesBelow = { '/docs/': 'The harbour', '/docs/tides': 'Tides', '/docs/guide/knots': 'Knots' }
const fixed = `fixed({ fallback: '404.html' })`
const kit2 = {
  '@sveltejs/kit': '~2.70.4',
  '@sveltejs/adapter-node': '^5.5.7',
  '@sveltejs/adapter-static': '^3.0.10',
}

const optionsOfStages = {
  env: { API_URL: { required: true }, STAGE: { default: 'none' } },
  serving: { csp: { 'connect-src': ["'self'", { env: 'API_URL' }] } },
}
/** Components that hydrate with different data on each page. */
const withComponents = {
  'src/routes/+layout.js': 'export const prerender = true\n',
  'src/stage.svelte': `<script>
  import { onMount } from 'svelte'
  import env from 'virtual:serve-dist/env'

  const { name } = $props()
  let values = $state('')
  let count = $state(0)
  onMount(() => (values = JSON.stringify(env)))
</script>

<p style="color: green">
  <output class="values">{values}</output>
  <button class="count" onclick={() => (count += 1)}>{name} {count}</button>
</p>
`,
  'src/routes/+page.svelte': pageWith('../stage.svelte', ['one']),
  'src/routes/tides/+page.svelte': pageWith('../../stage.svelte', ['two']),
  'src/routes/guide/knots/+page.svelte': pageWith('../../../stage.svelte', ['three', 'four']),
}

function pageWith(component: string, names: readonly string[]): string {
  const stages = names.map((name) => `<Stage name="${name}" />`).join('\n')
  return `<script>\n  import Stage from '${component}'\n</script>\n\n${stages}\n`
}

describe.each(frameworkVersions('3.2', { '2.70': kit2 }))(
  'SvelteKit $version',
  ({ version, dependencies }) => {
    let project: FrameworkProject
    // SvelteKit 2 does not load plugins of adapters, and logs missing pages.
    const recording = version.startsWith('2') ? ['plugin({ pass: false })'] : []

    beforeAll(async () => {
      project = await prepareProject('sveltekit', dependencies)
    })
    afterAll(() => project.remove())

    const configure = (adapter: string, plugins: readonly string[] = recording, base = ''): Promise<void> =>
      project.write({
        'vite.config.js': `import plugin from '@serve-dist/vite'
import serveDist from '${integration}'
import node from '@sveltejs/adapter-node'
import fixed from '@sveltejs/adapter-static'
import { sveltekit } from '@sveltejs/kit/vite'

const kit = sveltekit({ adapter: ${adapter}, paths: { base: '${base}' }, version: { name: '1' } })
export default { plugins: [${['kit', ...plugins].join(', ')}] }
`,
      })
    const built = (): WholeBuild => ({
      project,
      folder: 'build',
      hashed: /^_app\/immutable\//,
      pages: ['404.html', 'guide/knots.html', 'index.html', 'tides.html', 'tides/__data.json'],
    })
    const builtForNode = (): WholeBuild => ({ ...built(), folder: 'build/client', pages: ['robots.txt'] })
    // The browser renders the 404 page.
    const visit = (): Visit => ({
      project,
      args: ['build'],
      pages,
      notFound: { path: '/lost', heading: '__sveltekit_' },
      isClientRouted: true,
    })
    const visitNode = (): Visit => ({
      ...visit(),
      args: ['build/client', '--ssr', 'build/handler.js'],
      rendered: Object.keys(pages),
      notFound: { path: '/lost', heading: 'Lost at sea' },
      ...(version.startsWith('2') && { applicationLog: /\n.*\[404\] GET .*\n/g }),
    })

    test('type-checks with SvelteKit and its adapters', async () => {
      await expect(expectTypes(project, 'vite.config.js')).resolves.toBeUndefined()
    })

    test('adapter-static: serves every page, and 404.html for unknown paths', async () => {
      const output = await project.build()
      expect(compressionSummaries(output)).toHaveLength(1)
      // SvelteKit 3 prints this about plugins that transform Vite's pages.
      expect(output).not.toContain('transform_index_html_unsupported')
      await expectWholeBuild(built())
      // The example lacks the plugin that SvelteKit 2 needs. The policy would block the announcer's inline style, so with
      // SvelteKit 2 this test disables the policy.
      await serveAndVisit({ ...visit(), ...(recording.length > 0 && { csp: 'off' }) })
    })

    test('adapter-node: its handler answers what the folder does not have', async () => {
      expect(compressionSummaries(await project.build('build:ssr'))).toHaveLength(1)
      // The handler serves prerendered pages with the adapter's own variants.
      await expectWholeBuild({ ...builtForNode(), others: /^build\/prerendered\// })
      await serveAndVisit(visitNode())
    })

    test.each([
      ['adapter-static', fixed, '', built],
      ['adapter-static below a base', fixed, '/docs', built],
      ['adapter-node', 'node({ precompress: false })', '', builtForNode],
    ])('%s: serve-dist compress writes the same manifest', async (_name, adapter, base, whole) => {
      await configure(`serveDist(${adapter})`, recording, base)
      await project.build()
      const ofIntegration = await expectWholeBuild(whole())
      await configure(adapter, ['plugin({ pass: false })'], base)
      await project.build()
      const { folder } = whole()
      expect(await walkFiles(path.join(project.folder, folder))).not.toContain('.serve-dist/manifest.json')
      const output = await project.compress(folder)
      expect(output).toMatch(/\d+ hashed names known from the build of /)
      expect(withoutTimes(await expectWholeBuild(whole()))).toEqual(withoutTimes(ofIntegration))
    })

    test('serve-dist compress keeps the variants of adapter-node as files', async () => {
      await configure('node()', ['plugin({ pass: false })'])
      await project.build()
      await project.compress('build/client')
      const { files } = await readManifest(path.join(project.folder, 'build/client'))
      const names = files.map((file) => file.path).filter((name) => name.startsWith('robots.txt'))
      expect(names).toEqual(['robots.txt', 'robots.txt.br', 'robots.txt.gz'])
      await serveAndVisit(visitNode())
    })

    test('the plugin alone suggests the integration, and compresses nothing', async () => {
      await configure(fixed, ['plugin()'])
      const output = await project.build()
      expect(output.split(`wrap the adapter in serveDist() of "${integration}"`)).toHaveLength(2)
      const files = await walkFiles(path.join(project.folder, 'build'))
      expect(files.filter((name) => /\.(br|gz|zst)$|manifest\.json$/.test(name))).toEqual([])
    })

    test('uses the base for pages', async () => {
      await configure(`serveDist(${fixed})`, recording, '/docs')
      await project.build()
      expect(await expectWholeBuild(built())).toMatchObject({ base: '/docs/' })
      await serveAndVisit({
        ...visit(),
        pages: pagesBelow,
        notFound: { ...visit().notFound, path: '/docs/lost' },
      })
    })

    test('uses the base with a server', async () => {
      await configure('serveDist(node({ precompress: false }))', recording, '/docs')
      await project.build()
      const folder = 'build/client/docs'
      expect(await expectWholeBuild({ ...builtForNode(), folder })).toMatchObject({ base: '/docs/' })
      await serveAndVisit({
        ...visitNode(),
        args: [folder, '--ssr', 'build/handler.js'],
        pages: pagesBelow,
        rendered: Object.keys(pagesBelow),
        notFound: { path: '/docs/lost', heading: 'Lost at sea' },
      })
    })

    test.skipIf(version.startsWith('2'))('compresses chunks that $app/manifest changes', async () => {
      await project.write({
        'src/routes/guide/knots/+page.svelte': `<script>
  import { prerendered } from '$app/manifest'
</script>

<h1>Knots</h1>
<p>{prerendered.length} pages</p>
`,
      })
      await configure(`serveDist(${fixed})`)
      expect(compressionSummaries(await project.build())).toHaveLength(1)
      await expectWholeBuild(built())
      await serveAndVisit(visit())
    })

    test('serves a fallback named index.html for unknown paths', async () => {
      await project.write({
        'src/routes/+layout.js': 'export const ssr = false\nexport const prerender = false\n',
      })
      await configure(`serveDist(fixed({ fallback: 'index.html', strict: false }))`)
      await project.build()
      expect(await expectWholeBuild({ ...built(), pages: ['index.html'] })).toMatchObject({ appType: 'spa' })
    })

    test('hydrates components in two stages, under the policy of each page', async () => {
      await project.write(withComponents)
      const given = JSON.stringify(optionsOfStages)
      const plugins = recording.map(() => `plugin({ pass: false, ...${given} })`)
      await configure(`serveDist(${fixed}, ${given})`, plugins)
      await project.build()
      const components = { '/': ['one'], '/tides': ['two'], '/guide/knots': ['three', 'four'] }
      expect(await visitStages(project, 'build', Object.keys(components))).toEqual(expectedStages(components))
    })
  },
)
