import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Manifest } from '@serve-dist/manifest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readManifest } from '../src/read-manifest.ts'
import { expectTypes } from './support/expect-types.ts'
import { expectWholeBuild, compressionSummaries } from './support/expect-whole-build.ts'
import { type FrameworkProject, prepareProject } from './support/framework-project.ts'
import { frameworkVersions } from './support/framework-versions.ts'
import { serveAndVisit } from './support/serve-and-visit.ts'

const versions = frameworkVersions('2', { 1: { vitepress: '^1.6.4' } })

const folder = 'docs/.vitepress/dist'
const hashed = /^assets\//
const pages = { '/': 'VitePress behind serve-dist', '/guide/start': 'Start', '/about': 'About' }
const files = ['index.html', 'about.html', 'guide/start.html', '404.html']

/**
 * Sources for what the default theme adds to a page after a click: colours of code, and a disabled dark-mode
 * transition.
 */
const policy = {
  'style-src': ["'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='"],
  'style-src-attr': ["'unsafe-inline'"],
}

const configuration = 'docs/.vitepress/config.mjs'
const withoutIntegration = `
  import serveDist from '@serve-dist/vite'
  import withServeDist from './with-serve-dist.mjs'
  const { buildEnd, ...config } = withServeDist
  export default { ...config, vite: { plugins: [serveDist()] } }`

describe.each(versions)('VitePress $version', ({ version, dependencies }) => {
  let project: FrameworkProject

  beforeAll(async () => {
    project = await prepareProject('vitepress', dependencies)
  })

  afterAll(async () => project?.remove())

  test('the wrapper type-checks with this version', async () => {
    expect(await project.versionOf('vitepress')).toMatch(new RegExp(`^${version}\\.`))
    await expectTypes(project, configuration)
  })

  test('serves pages with clean URLs', async () => {
    expect(compressionSummaries(await project.build())).toHaveLength(1)
    await expectWholeBuild({ project, folder, hashed, pages: files })
    await project.write({ 'serve-dist.config.js': `export default { csp: ${JSON.stringify(policy)} }` })
    await serveAndVisit({
      project,
      args: [folder],
      pages,
      notFound: { path: '/nowhere', heading: '404 | Example' },
      isClientRouted: true,
    })
  })

  // The plugin does not support Vite 5, which VitePress 1 uses.
  test.each(version === '1' ? [5] : [])('the plugin rejects Vite %i, and suggests the wrapper', async () => {
    await leaveIntegrationOut(project)
    await expect(project.build()).rejects.toThrow(
      /VitePress 1 builds with Vite 5.*@serve-dist\/vite\/vitepress/s,
    )
  })

  test.each(version === '1' ? [] : [8])(
    'the plugin in Vite %i and the command write the same manifest',
    async () => {
      const dist = path.join(project.folder, folder)
      const manifest = await readManifest(dist)
      await leaveIntegrationOut(project)
      const output = await project.build()
      expect(output).toContain('@serve-dist/vite/vitepress')
      await expect(readManifest(dist)).rejects.toThrow('ENOENT')
      await project.compress(folder)
      await expectWholeBuild({ project, folder, hashed, pages: files })
      expect(withoutContent(await readManifest(dist))).toEqual(withoutContent(manifest))
    },
  )
})

/**
 * Returns the deterministic parts of a manifest. VitePress renders pages in varying order, so bytes and
 * hashes of two builds may differ.
 */
function withoutContent({ base, appType, assetsDirectory, selection, files: described }: Manifest): unknown {
  const all = described.map(({ path: name, cache, mediaType, stem, variants, links = [] }) => ({
    path: withoutHash(name),
    cache,
    mediaType,
    stem,
    codings: variants.map(({ coding }) => coding),
    links: links.map((link) => ({ ...link, path: withoutHash(link.path) })),
  }))
  return { base, appType, assetsDirectory, selection, files: all }
}

function withoutHash(name: string): string {
  return name.replace(/^(assets\/.+)\.[\w-]{8}\./, '$1.')
}

async function leaveIntegrationOut(project: FrameworkProject): Promise<void> {
  await project.write({
    'docs/.vitepress/with-serve-dist.mjs': await readFile(path.join(project.folder, configuration), 'utf8'),
    [configuration]: withoutIntegration,
  })
}
