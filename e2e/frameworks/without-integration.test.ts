import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Manifest } from '@serve-dist/manifest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readManifest } from '../src/read-manifest.ts'
import { expectWholeBuild, compressionSummaries, withoutTimes } from './support/expect-whole-build.ts'
import { type FrameworkProject, prepareFixture } from './support/framework-project.ts'
import { serveAndVisit } from './support/serve-and-visit.ts'

/** Matches log entries of React Router for addresses without a route. */
const unmatched = /^Error: No route matches URL .*\n(?: {4}at .*\n)*/gm

const lighthouses = {
  pages: { '/': 'Lighthouses', '/about': 'About' },
  notFound: { path: '/nowhere', heading: 'No such page' },
}

/** Frameworks that build everything in one `buildApp`, whose end the plugin detects. */
const frameworks = [
  {
    name: 'react-router-8',
    base: 'examples/react-router',
    args: ['build/client', '--ssr', 'build/server/index.js'],
    files: ['index.html', 'about/index.html', 'lighthouses.data'],
    visit: {
      ...lighthouses,
      pages: { ...lighthouses.pages, '/lighthouses': 'From west to east', '/lighthouses/fastnet': 'Fastnet' },
      rendered: ['/lighthouses/fastnet'],
      isClientRouted: true,
      applicationLog: unmatched,
    },
  },
  {
    name: 'tanstack-start',
    args: ['dist/client', '--ssr', 'dist/server/server.js'],
    files: ['index.html', 'about/index.html'],
    visit: {
      ...lighthouses,
      pages: { ...lighthouses.pages, '/lit/1904': 'Lit in 1904' },
      rendered: ['/lit/1904'],
      isClientRouted: true,
    },
    isTimed: true,
  },
  {
    name: 'vike',
    args: ['dist/client'],
    files: ['index.html', 'about/index.html', '404.html'],
    visit: { ...lighthouses, isClientRouted: true },
  },
  {
    name: 'solid-start',
    args: ['dist/client', '--ssr', 'dist/server/entry-server.js'],
    files: [],
    hashed: /^_build\/assets\//,
    visit: { ...lighthouses, rendered: ['/', '/about'], isClientRouted: true },
  },
  {
    name: 'rsc',
    args: ['dist/client', '--ssr', 'dist/rsc/index.js'],
    files: [],
    visit: { ...lighthouses, rendered: ['/', '/about'], isClientRouted: false },
  },
]

describe.each(frameworks)('$name', ({ name, base, args, files, hashed = /^assets\//, visit, isTimed }) => {
  const [folder = ''] = args
  let project: FrameworkProject
  beforeAll(async () => {
    project = await prepareFixture(name, base)
  })
  afterAll(() => project?.remove())

  test('is compressed once with a complete manifest, and served', async () => {
    expect(compressionSummaries(await project.build())).toHaveLength(1)
    await expectWholeBuild({ project, folder, hashed, pages: files })
    await serveAndVisit({ project, args, ...visit })
  })

  test('gets the same manifest from the command', async () => {
    const describeBuild = async () => {
      const manifest = await readManifest(path.join(project.folder, folder))
      return withoutTimes(isTimed === true ? withoutPageBytes(manifest) : manifest)
    }
    const expected = await describeBuild()
    const config = await readFile(path.join(project.folder, 'vite.config.js'), 'utf8')
    await project.write({ 'vite.config.js': config.replace('serveDist()', 'serveDist({ pass: false })') })
    expect(compressionSummaries(await project.build())).toEqual([])
    await project.compress(folder)
    expect(await describeBuild()).toEqual(expected)
  })
})

/** Removes the bytes of pages, which contain their render time in a script. */
function withoutPageBytes(manifest: Manifest): Manifest {
  const files = manifest.files.map((file) =>
    file.path.endsWith('.html') ? { ...file, size: 0, sha256: '', variants: [], policy: {} } : file,
  )
  return { ...manifest, files }
}
