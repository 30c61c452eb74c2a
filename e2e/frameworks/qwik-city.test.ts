import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pnpmCommand } from '../../scripts/pnpm-command.mjs'
import { expectWholeBuild, compressionSummaries } from './support/expect-whole-build.ts'
import { type FrameworkProject, prepareFixture } from './support/framework-project.ts'
import { serveAndVisit } from './support/serve-and-visit.ts'

const adapter = 'adapters/static/vite.config.js'

/** Runs the client's build, then the adapter's, which writes pages into the same folder. */
describe('Qwik City with the static adapter', () => {
  let project: FrameworkProject
  beforeAll(async () => {
    project = await prepareFixture('qwik')
  })
  afterAll(() => project?.remove())

  test('fails after the second build, and lists the files that were added after the manifest', async () => {
    await project.run(pnpmCommand('exec', 'vite', 'build'))
    await expect(project.run(pnpmCommand('exec', 'vite', 'build', '-c', adapter))).rejects.toThrow(
      /dist changed after its manifest was written: .*npx @serve-dist\/server compress dist/s,
    )
  })

  test('gets a complete manifest from the command, and is served', async () => {
    const config = await readFile(path.join(project.folder, 'vite.config.js'), 'utf8')
    await project.write({ 'vite.config.js': config.replace('serveDist()', 'serveDist({ pass: false })') })
    expect(compressionSummaries(await project.build())).toHaveLength(1)
    await expectWholeBuild({
      project,
      folder: 'dist',
      hashed: /^(assets|build)\//,
      pages: ['index.html', 'about/index.html', '404.html', 'q-data.json', 'sitemap.xml'],
    })
    await serveAndVisit({
      project,
      args: [],
      pages: { '/': 'Lighthouses', '/about/': 'About' },
      notFound: { path: '/nowhere', heading: 'No such page' },
      isClientRouted: true,
    })
  })
})
