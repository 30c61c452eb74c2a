import type * as Rollup from 'rollup'
import { build as buildByVite8, type Plugin, type Rolldown } from 'vite'
import { describe, expect, expectTypeOf, test } from 'vitest'
import serveDist from '../src/index.ts'
import type { EmittedAsset } from '../src/record/find-hashed-names.ts'
import type { OutputOptions, WrittenFile } from '../src/record/written-output.ts'
import { application, createProject, prose } from './support/project.ts'
import { isChosen, vites } from './support/vites.ts'

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

/** Returns the ids for which hooks of the plugin run. */
function recordIds(plugins: readonly Plugin[], ids: Set<string>): void {
  const recording = (handler: unknown) =>
    function record(this: unknown, id: string, ...others: readonly unknown[]): unknown {
      ids.add(id)
      return typeof handler === 'function' ? Reflect.apply(handler, this, [id, ...others]) : undefined
    }
  for (const plugin of plugins) {
    for (const name of ['resolveId', 'load'] as const) {
      const hook = plugin[name]
      if (typeof hook === 'function') Object.assign(plugin, { [name]: recording(hook) })
      else if (hook !== undefined) Object.assign(hook, { handler: recording(hook.handler) })
    }
  }
}

test.runIf(isChosen({ name: 'Vite 8' }))('hooks of the plugin run only for its virtual modules', async () => {
  const imports =
    "import 'virtual:serve-dist/client'; import env from 'virtual:serve-dist/env'; console.log(env.A)"
  const project = await createProject({ ...application, 'lazy.js': imports })
  const plugins = serveDist({ env: { A: {} } })
  const ids = new Set<string>()
  recordIds(plugins, ids)
  await buildByVite8(project.config({ plugins }))
  expect([...ids].toSorted()).toEqual([
    '\0virtual:serve-dist/client',
    'virtual:serve-dist/client',
    'virtual:serve-dist/env',
  ])
  expect((await project.manifest()).environment).toBeDefined()
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
