import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readManifest } from '../src/read-manifest.ts'
import { expectTypes } from './support/expect-types.ts'
import { expectWholeBuild, compressionSummaries, withoutTimes } from './support/expect-whole-build.ts'
import { type FrameworkProject, prepareProject } from './support/framework-project.ts'
import { frameworkVersions } from './support/framework-versions.ts'
import { serveAndVisit } from './support/serve-and-visit.ts'

const before = {
  '28 with Vite 7': { vite: '7.3.8' },
  '27 with Vite 6': {
    'vite-ssg': '27.0.1',
    vite: '6.4.6',
    '@vitejs/plugin-vue': '6.0.11',
    'vue-router': '4.6.4',
  },
}

describe.each(frameworkVersions('28 with Vite 8', before))('vite-ssg $version', ({ dependencies }) => {
  let project: FrameworkProject
  beforeAll(async () => {
    project = await prepareProject('vite-ssg', dependencies)
  })
  afterAll(() => project?.remove())

  test('has a complete manifest with the rendered pages, and is served', async () => {
    expect(compressionSummaries(await project.build())).toHaveLength(1)
    await expectWholeBuild({
      project,
      folder: 'dist',
      hashed: /^assets\//,
      pages: ['index.html', 'about.html', 'lighthouses.html', '404.html'],
    })
    await serveAndVisit({
      project,
      args: [],
      pages: { '/': 'Lighthouses', '/lighthouses': 'From west to east', '/about': 'About' },
      notFound: { path: '/nowhere', heading: 'No such page' },
      isClientRouted: true,
    })
  })

  test('type-checks the plugin with this version', async () => {
    expect(await project.versionOf('vite-ssg')).toMatch(/^2[78]\./)
    // serve-dist's types use the latest Vite that is installed in this repository.
    if ((await project.versionOf('vite')).startsWith('8.')) await expectTypes(project, 'vite.config.js')
  })

  test("calls the user's onFinished first", async () => {
    await project.write({ 'vite.config.js': configWith('serveDist()') })
    await project.build()
    const { files } = await readManifest(path.join(project.folder, 'dist'))
    expect(files.map((file) => file.path)).toContain('sitemap.txt')
  })

  test('gets the same manifest from the command', async () => {
    const folder = path.join(project.folder, 'dist')
    const expected = withoutTimes(await readManifest(folder))
    await project.write({ 'vite.config.js': configWith('serveDist({ pass: false })') })
    await project.build()
    await project.compress('dist')
    expect(withoutTimes(await readManifest(folder))).toEqual(expected)
  })

  test('fails and suggests the integration if the plugin is used instead', async () => {
    const config = configWith('serveDist()').replace('@serve-dist/vite/vite-ssg', '@serve-dist/vite')
    await project.write({ 'vite.config.js': config })
    await expect(project.build()).rejects.toThrow('Import serveDist() from "@serve-dist/vite/vite-ssg"')
  })
})

/** Returns a configuration whose own `onFinished` writes a file. */
function configWith(serveDist: string): string {
  return `import { writeFileSync } from 'node:fs'
import serveDist from '@serve-dist/vite/vite-ssg'
import vue from '@vitejs/plugin-vue'
export default {
  plugins: [vue(), ${serveDist}],
  ssgOptions: { onFinished: () => writeFileSync('dist/sitemap.txt', 'https://lighthouses.example/\\n') },
}`
}
