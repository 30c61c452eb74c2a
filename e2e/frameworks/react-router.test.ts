import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readManifest } from '../src/read-manifest.ts'
import { expectTypes } from './support/expect-types.ts'
import { expectWholeBuild, compressionSummaries, withoutTimes } from './support/expect-whole-build.ts'
import { type FrameworkProject, prepareProject } from './support/framework-project.ts'
import { frameworkVersions } from './support/framework-versions.ts'
import { serveAndVisit } from './support/serve-and-visit.ts'

const react18 = { react: '18.3.1', 'react-dom': '18.3.1' }
const before = {
  '7.9 with Vite 7': {
    'react-router': '7.9.6',
    '@react-router/dev': '7.9.6',
    '@react-router/node': '7.9.6',
    vite: '7.3.1',
    ...react18,
  },
  '7.2 with Vite 6': {
    'react-router': '7.2.0',
    '@react-router/dev': '7.2.0',
    '@react-router/node': '7.2.0',
    vite: '6.4.1',
    ...react18,
  },
}

const pages = { '/': 'Lighthouses', '/about': 'About', '/lighthouses': 'From west to east' }
const rendered = { '/lighthouses/fastnet': 'Fastnet' }
const all = { ...pages, ...rendered }
const prerendered = ['index.html', 'about/index.html', 'lighthouses/index.html', 'lighthouses.data']
const notFound = { path: '/nowhere', heading: 'No such page' }
const client = 'build/client'
const server = ['--ssr', 'build/server/index.js']

/** Matches log entries of React Router for addresses without a route. */
const applicationLog =
  /^(?:Error: No route matches URL .*\n(?: {4}at .*\n)*|No routes matched location .*\n)/gm
const shell = { ...notFound, heading: 'Loading', status: 200 }

/** Typical options of react-router.config, besides the preset. */
const modes = [
  {
    mode: 'ssr: true, prerender',
    config: { ssr: true, prerender: Object.keys(pages) },
    files: prerendered,
    args: server,
    visit: { pages: all, rendered: Object.keys(rendered), notFound, applicationLog },
  },
  {
    mode: 'ssr: true',
    config: { ssr: true },
    args: server,
    visit: { pages: all, rendered: Object.keys(all), notFound, applicationLog },
  },
  {
    mode: 'ssr: false, prerender',
    config: { ssr: false, prerender: Object.keys(all) },
    files: [...prerendered, 'lighthouses/fastnet/index.html', '__spa-fallback.html'],
    changes: { 'public/_redirects': '/* /__spa-fallback.html 200\n' },
    visit: { pages: all, notFound: shell },
  },
  {
    mode: 'ssr: false',
    config: { ssr: false },
    files: ['index.html'],
    changes: { 'public/_redirects': undefined },
    visit: { pages: all, notFound: shell },
    hasServer: false,
  },
]

describe.each(frameworkVersions('7.18 with Vite 8', before))('React Router $version', ({ dependencies }) => {
  let project: FrameworkProject
  beforeAll(async () => {
    project = await prepareProject('react-router', dependencies)
  })
  afterAll(() => project?.remove())

  test('type-checks the preset with this version', async () => {
    expect(await project.versionOf('react-router')).toMatch(/^7\./)
    await expectTypes(project, 'react-router.config.js')
  })

  describe.each(modes)('$mode', ({ config, files = [], changes = {}, args = [], visit, hasServer }) => {
    test('gets a complete manifest from the preset, with its route manifest, and is served', async () => {
      await project.write({ 'react-router.config.js': configFile(config), ...changes })
      if (hasServer === false) await loadInClient(project)
      expect(compressionSummaries(await project.build())).toHaveLength(1)
      const manifest = await expectWholeBuild({ project, folder: client, hashed: /^assets\//, pages: files })
      expect(manifest.files.map(({ path: name }) => name)).toContainEqual(
        expect.stringMatching(/^assets\/manifest-[\da-f]{8}\.js$/),
      )
      await serveAndVisit({ project, args: [client, ...args], ...visit, isClientRouted: true })
    })

    test('gets the same manifest from the command', async () => {
      const expected = withoutTimes(await readManifest(path.join(project.folder, client)))
      await project.write({ 'react-router.config.js': configFile(config, []) })
      const output = await project.build()
      expect(output.split('put serveDist() of "@serve-dist/vite/react-router"')).toHaveLength(2)
      expect(output).toContain('npx @serve-dist/server compress build/client')
      await project.compress(client)
      expect(withoutTimes(await readManifest(path.join(project.folder, client)))).toEqual(expected)
    })
  })
})

/** One build of both environments. The plugin detects its end, but not in Vite 6. */
describe.each(frameworkVersions('8', { 6: { vite: '6.4.6' } }))(
  'v8_viteEnvironmentApi and Vite $version',
  (vite) => {
    let project: FrameworkProject
    beforeAll(async () => {
      project = await prepareProject('react-router', vite.dependencies)
    })
    afterAll(() => project?.remove())

    test('needs the preset only if the plugin cannot detect the end of the build', async () => {
      const config = { ...modes[0]?.config, future: { v8_viteEnvironmentApi: true } }
      await project.write({ 'react-router.config.js': configFile(config, []) })
      const output = await project.build()
      const isSeen = vite.version !== '6'
      expect(compressionSummaries(output)).toHaveLength(isSeen ? 1 : 0)
      expect(output.includes('"@serve-dist/vite/react-router" into "presets"')).toBe(!isSeen)

      await project.write({ 'react-router.config.js': configFile(config) })
      expect(compressionSummaries(await project.build())).toHaveLength(1)
      await expectWholeBuild({ project, folder: client, hashed: /^assets\//, pages: prerendered })
    })
  },
)

/** Adds a client loader because only prerendered pages have loaders without a server. */
async function loadInClient(project: FrameworkProject): Promise<void> {
  for (const name of ['app/routes/lighthouses.jsx', 'app/routes/lighthouse.jsx']) {
    const source = await readFile(path.join(project.folder, name), 'utf8')
    await project.write({ [name]: source.replace(/\bloader\b/, 'clientLoader') })
  }
}

function configFile(config: object, presets = ['serveDist()']): string {
  return `import serveDist from '@serve-dist/vite/react-router'
export default { ...${JSON.stringify(config)}, presets: [${presets.join()}] }`
}
