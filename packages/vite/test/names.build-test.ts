import { join } from 'node:path'
import type { BuildOptions, PluginOption, Rollup } from 'vite'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject } from './support/project.ts'
import { vites } from './support/vites.ts'

/** A pattern that depends on all arguments of the bundler. */
function byOriginal({ names, originalFileNames, source }: Rollup.PreRenderedAsset): string {
  return `b${originalFileNames.length}-${source.length}/${names.join('+')}-[hash][extname]`
}

/** Makes folders of outputs absolute, because Vite resolves them against the working directory. */
function within(root: string, { rollupOptions, ...options }: BuildOptions): BuildOptions {
  if (rollupOptions?.output === undefined) return options
  const output: Rollup.OutputOptions[] = []
  for (const { dir = 'dist', ...rest } of [rollupOptions.output].flat()) {
    output.push({ ...rest, dir: join(root, dir) })
  }
  return { ...options, rollupOptions: { output } }
}

const builds: readonly [string, BuildOptions][] = [
  ['an application', { assetsInlineLimit: 0, cssCodeSplit: false }],
  ['a library', { lib: { entry: 'main.js', formats: ['es'], fileName: 'own', cssFileName: 'look' } }],
  [
    'outputs with their own patterns',
    {
      assetsInlineLimit: 0,
      rollupOptions: {
        output: [{ assetFileNames: 'a/[hash:9][extname]' }, { dir: 'dist/2', assetFileNames: byOriginal }],
      },
    },
  ],
]

describe.each(vites)('the names of a build by $name', ({ build }) => {
  test.each(builds)('equal those of %s without the plugin', async (_, options) => {
    const project = await createProject({
      ...application,
      'main.js': `${application['main.js']}; import a from './a.svg?url'; console.log(a)`,
      'a.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    })
    const namesOf = async (plugins: PluginOption[]) => {
      await build(project, { plugins, build: within(project.root, options) })
      return project.list()
    }
    const plain = await namesOf([])
    const ours = await namesOf([serveDist({ codings: [], minimumSize: 1e9 })])
    expect(plain.length).toBeGreaterThan(1)
    expect(ours.filter((path) => !path.startsWith('.serve-dist/'))).toEqual(plain)
  })
})
