import type * as Rollup from 'rollup'
import type { Rolldown } from 'vite'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { EmittedAsset } from '../src/record/find-hashed-names.ts'
import type { OutputOptions, WrittenFile } from '../src/record/written-output.ts'
import { application, createProject, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

function withoutHash(path: string): string {
  return path.replace(/-[\w-]{8}(?=\.)/, '-HASH')
}

describe('types of the hooks', () => {
  test('accept the arguments of Rollup', () => {
    expectTypeOf<Rollup.NormalizedOutputOptions>().toExtend<OutputOptions>()
    expectTypeOf<Rollup.OutputBundle[string]>().toExtend<WrittenFile>()
    expectTypeOf<Rollup.PreRenderedAsset>().toExtend<EmittedAsset>()
  })

  test('accept the arguments of Rolldown', () => {
    expectTypeOf<Rolldown.NormalizedOutputOptions>().toExtend<OutputOptions>()
    expectTypeOf<Rolldown.OutputBundle[string]>().toExtend<WrittenFile>()
    expectTypeOf<Rolldown.PreRenderedAsset>().toExtend<EmittedAsset>()
  })
})

describe.each(vites)('the manifest of a build by $name', ({ build }) => {
  test('is equal for all bundlers, except for hashes', async () => {
    const project = await createProject({ ...application, 'public/robots.txt': prose('robots') })
    await build(project)
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
