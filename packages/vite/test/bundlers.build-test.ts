import type * as Rollup from 'rollup'
import type { Environment, Rolldown } from 'vite'
import { describe, expect, expectTypeOf, test } from 'vitest'
import serveDist from '../src/index.ts'
import type { PassContext } from '../src/pass/compress-folders.ts'
import type { BundledChunk } from '../src/record/chunk-graph.ts'
import type { OutputOptions } from '../src/record/environment-output.ts'
import type { BundledFile, EmittedAsset } from '../src/record/hashed-names.ts'
import { application, createProject, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

type Bundled = BundledFile & BundledChunk

function withoutHash(path: string): string {
  return path.replace(/-[\w-]{8}(?=\.)/, '-HASH')
}

describe('what the hooks take', () => {
  test('is what Rollup hands over', () => {
    expectTypeOf<Rollup.NormalizedOutputOptions>().toExtend<OutputOptions>()
    expectTypeOf<Rollup.OutputBundle[string]>().toExtend<Bundled>()
    expectTypeOf<Rollup.PreRenderedAsset>().toExtend<EmittedAsset>()
    expectTypeOf<Rollup.PluginContext & { environment: Environment }>().toExtend<PassContext>()
  })

  test('is what Rolldown hands over', () => {
    expectTypeOf<Rolldown.NormalizedOutputOptions>().toExtend<OutputOptions>()
    expectTypeOf<Rolldown.OutputBundle[string]>().toExtend<Bundled>()
    expectTypeOf<Rolldown.PreRenderedAsset>().toExtend<EmittedAsset>()
    expectTypeOf<Rolldown.PluginContext & { environment: Environment }>().toExtend<PassContext>()
  })
})

describe.each(vites)('the manifest of a build by $name', ({ load }) => {
  test('is what every bundler leads to, but for the hashes', async () => {
    const project = await createProject({ ...application, 'public/robots.txt': prose('robots') })
    const { build } = await load()
    await build(project.config({ plugins: [serveDist()] }))
    const { files } = await project.manifest()
    const lines = files.map(({ path, cache, variants, links = [] }) =>
      [
        withoutHash(path),
        cache,
        `${variants.length} variants`,
        ...links.map((link) => withoutHash(link.path)),
      ].join(', '),
    )
    expect(lines.toSorted()).toEqual([
      'assets/index-HASH.css, immutable, 3 variants',
      'assets/index-HASH.js, immutable, 3 variants',
      'assets/lazy-HASH.js, immutable, 3 variants',
      'index.html, revalidate, 0 variants, assets/index-HASH.css, assets/index-HASH.js',
      'robots.txt, revalidate, 3 variants',
    ])
  })
})
