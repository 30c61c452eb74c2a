import { join } from 'node:path'
import legacy from '@vitejs/plugin-legacy'
import type { InlineConfig } from 'vite'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { createProject } from './support/project.ts'
import { isChosen, vites } from './support/vites.ts'

const options = { env: { STAGE: { default: 'dev' } } }
const application = {
  'index.html': '<!doctype html><head><title>t</title><script type="module" src="/main.js"></script></head>',
  'main.js': `import { stage } from './stage.js'\nconsole.log(stage)`,
  'stage.js': `/* ours */\n\nimport env from 'virtual:serve-dist/env'\nexport const stage = env.STAGE`,
}

function withFormat(build: InlineConfig['build']): InlineConfig {
  return { plugins: [serveDist(options)], build: { ...build } }
}

describe.each(vites)(
  'virtual:serve-dist/env by $name with an output that is not a module',
  ({ name, build }) => {
    // Rolldown does not support SystemJS.
    const formats = ['iife', 'umd', 'cjs', ...(name === 'Vite 8' ? [] : ['system'])]
    test.each(formats)('rejects the format %s before the folder changes', async (format) => {
      const project = await createProject({ ...application, 'dist/earlier.txt': 'still here' })
      const output = Object({ format, name: 'application' })
      await expect(build(project, withFormat({ rollupOptions: { output } }))).rejects.toThrow(
        /cannot import a module\. .* \(imported in stage\.js:3\)/,
      )
      // Vite 6 empties the folder before any plugin can fail.
      const left = name === 'Vite 6' ? [] : ['earlier.txt']
      expect(await project.list()).toEqual(expect.arrayContaining(left))
    })

    test('rejects a UMD library, and adds the module to an ES library', async () => {
      const project = await createProject(application)
      const lib = { entry: join(project.root, 'main.js'), name: 'x', fileName: 'x' }
      const built = build(project, withFormat({ lib: { ...lib, formats: ['es', 'umd'] } }))
      await expect(built).rejects.toThrow('"umd" cannot import a module. ')
      await build(project, withFormat({ lib: { ...lib, formats: ['es'] } }))
      expect(await project.list()).toContain('serve-dist-env.js')
    })
  },
)

describe.runIf(isChosen({ name: 'Vite 8' }))('virtual:serve-dist/env with plugin-legacy', () => {
  test('rejects chunks for old browsers, and works without them', async () => {
    const { build } = await import('vite')
    const project = await createProject(application)
    const config = (renderLegacyChunks: boolean) =>
      project.config({
        plugins: [
          legacy({ targets: ['chrome 60'], modernPolyfills: ['es.array.at'], renderLegacyChunks }),
          serveDist(options),
        ],
      })
    await expect(build(config(true))).rejects.toThrow(
      /legacy\(\{ renderLegacyChunks: false \}\) \(imported in stage\.js:3\)/,
    )
    await build(config(false))
    const entry = (await project.list()).find((path) => /assets\/index-[\w-]{8}\.js$/.test(path)) ?? ''
    expect(await project.read(join('dist', entry))).toMatch(/from ?["'`]\/serve-dist-env\.js/)
  })
})
