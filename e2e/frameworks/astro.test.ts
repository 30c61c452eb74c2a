import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pnpmCommand } from '../../scripts/pnpm-command.mjs'
import { readManifest } from '../src/read-manifest.ts'
import { expectTypes } from './support/expect-types.ts'
import { expectWholeBuild, compressionSummaries, withoutTimes } from './support/expect-whole-build.ts'
import { type FrameworkProject, prepareProject } from './support/framework-project.ts'
import { frameworkVersions } from './support/framework-versions.ts'
import { serveAndVisit } from './support/serve-and-visit.ts'
import { expectedStages, visitStages } from './support/visit-stages.ts'

const versions = frameworkVersions('7', {
  6: { astro: '^6.4.8', '@astrojs/node': '^10.1.4' },
  5: { astro: '^5.18.0', '@astrojs/node': '^9.5.5' },
})

const hashed = /^_astro\//
const pages = { '/': 'Astro behind serve-dist', '/about/': 'About', '/guide/start/': 'Start' }
const files = ['index.html', 'about/index.html', 'guide/start/index.html', '404.html', 'favicon.svg']
const notFound = { path: '/nowhere', heading: 'There is no such page' }

const withoutAdapter = {
  'src/pages/now.astro': undefined,
  'astro.config.mjs': `
    import serveDist from '@serve-dist/vite/astro'
    export default { integrations: [serveDist()] }`,
}
const withLateWriter = {
  'astro.config.mjs': `
    import { writeFileSync } from 'node:fs'
    import serveDist from '@serve-dist/vite/astro'
    const write = ({ dir }) => writeFileSync(new URL('late.html', dir), '<p>late')
    export default { integrations: [serveDist(), { name: 'late', hooks: { 'astro:build:done': write } }] }`,
}
const withoutIntegration = {
  'astro.config.mjs': `
    import serveDist from '@serve-dist/vite'
    export default { vite: { plugins: [serveDist()] } }`,
}

/** Islands that hydrate at a different time on each page, and a script. */
const withIslands = {
  'src/pages/now.astro': undefined,
  'astro.config.mjs': `
    import preact from '@astrojs/preact'
    import serveDist from '@serve-dist/vite/astro'
    const env = { API_URL: { required: true }, STAGE: { default: 'none' } }
    const serving = { csp: { 'connect-src': ["'self'", { env: 'API_URL' }] } }
    export default { integrations: [preact(), serveDist({ env, serving })] }`,
  'src/stage.jsx': `
    import { useEffect, useState } from 'preact/hooks'
    import env from 'virtual:serve-dist/env'
    export default function Stage({ name }) {
      const [values, setValues] = useState('')
      const [count, setCount] = useState(0)
      useEffect(() => setValues(JSON.stringify(env)), [])
      return <p style={{ color: 'green' }}>
        <output class="values">{values}</output>
        <button class="count" onClick={() => setCount(count + 1)}>{name + ' ' + count}</button>
      </p>
    }`,
  'src/pages/index.astro': pageWith('<Stage client:load name="load" />', '../'),
  'src/pages/about.astro': pageWith('<Stage client:idle name="idle" />', '../'),
  'src/pages/guide/start.astro': pageWith(
    '<Stage client:visible name="visible" /><Stage client:only="preact" name="only" />',
    '../../',
  ),
}

function pageWith(islands: string, up: string): string {
  return `---
    import Page from '${up}layouts/page.astro'
    import Stage from '${up}stage.jsx'
    ---
    <Page heading="Islands">${islands}<i></i></Page>
    <script>
      import env from 'virtual:serve-dist/env'
      document.querySelector('i').textContent = env.STAGE
    </script>`.replaceAll(/^ {4}/gm, '')
}

describe.each(versions)('Astro $version', ({ version, dependencies }) => {
  let project: FrameworkProject

  beforeAll(async () => {
    project = await prepareProject('astro', dependencies)
  })

  afterAll(async () => project?.remove())

  test('the integration type-checks with this version', async () => {
    expect(await project.versionOf('astro')).toMatch(new RegExp(`^${version}\\.`))
    await expectTypes(project, 'astro.config.mjs')
  })

  test('serves static pages and a page that is rendered for each request', async () => {
    expect(compressionSummaries(await project.build())).toHaveLength(1)
    await expectWholeBuild({ project, folder: 'dist/client', hashed, pages: files })
    await serveAndVisit({
      project,
      args: ['dist/client', '--ssr', 'dist/server/entry.mjs'],
      pages: { ...pages, '/now': 'Now' },
      rendered: ['/now'],
      notFound,
      isClientRouted: false,
    })
  })

  test('serves a site without a server', async () => {
    await project.write(withoutAdapter)
    expect(compressionSummaries(await project.build())).toHaveLength(1)
    await expectWholeBuild({ project, folder: 'dist', hashed, pages: files })
    await serveAndVisit({ project, args: [], pages, notFound, isClientRouted: false })
  })

  test('writes the same manifest with the plugin and the command, and the plugin suggests the integration', async () => {
    const dist = path.join(project.folder, 'dist')
    const manifest = await readManifest(dist)
    await project.write(withoutIntegration)
    const output = await project.build()
    expect(output).toContain('@serve-dist/vite/astro')
    await expect(readManifest(dist)).rejects.toThrow('ENOENT')
    await project.compress('dist')
    await expectWholeBuild({ project, folder: 'dist', hashed, pages: files })
    expect(withoutTimes(await readManifest(dist))).toEqual(withoutTimes(manifest))
  })

  test('fails if another integration writes a page later, and prints the command that fixes it', async () => {
    await project.write(withLateWriter)
    await expect(project.build()).rejects.toThrow(/late\.html.*npx @serve-dist\/server compress dist/s)
    await project.compress('dist')
    await expectWholeBuild({ project, folder: 'dist', hashed, pages: [...files, 'late.html'] })
  })

  // Only this version's renderer is installed.
  test.skipIf(version !== '7')('hydrates islands in two stages, under the policy of each page', async () => {
    await project.write(withIslands)
    await project.run(pnpmCommand('add', '--prefer-offline', '@astrojs/preact@6.0.5', 'preact@10.29.0'))
    await project.build()
    const islands = { '/': ['load'], '/about/': ['idle'], '/guide/start/': ['visible', 'only'] }
    expect(await visitStages(project, 'dist', Object.keys(islands))).toEqual(expectedStages(islands))
  })
})
