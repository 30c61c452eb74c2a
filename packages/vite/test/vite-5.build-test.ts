import { describe, expect, test } from 'vitest'
import { build, type PluginOption } from 'vite5'
import serveDist from '../src/index.ts'
import { application, createProject } from './support/project.ts'
import { isChosen } from './support/vites.ts'

/** What a user of Vite 5 has; the types of the plugin are those of later ones. */
function untyped(plugin: unknown): PluginOption {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Vite 5 takes any object with hooks
  return plugin as PluginOption
}

describe.runIf(isChosen({ name: 'Vite 8' }))('a build by Vite 5', () => {
  test('is refused before it begins, with what to do instead', async () => {
    const project = await createProject(application)
    const { root } = project
    const built = build({ root, configFile: false, logLevel: 'silent', plugins: [untyped(serveDist())] })
    await expect(built).rejects.toThrow(
      'serveDist() works with Vite 6 and later, and an older one runs this build: take it out of "plugins", and run "npx @serve-dist/server compress dist" after the build',
    )
    await expect(built).rejects.toHaveProperty('code', 'SD_VITE_UNSUPPORTED')
    await expect(project.list()).rejects.toThrow('ENOENT')
  })

  test('below VitePress names its integration', async () => {
    const { root } = await createProject(application)
    // As VitePress 1.6 has it, whose Vite this is.
    const plugins = [{ name: 'vitepress' }, untyped(serveDist())]
    await expect(build({ root, configFile: false, logLevel: 'silent', plugins })).rejects.toThrow(
      'serveDist() works with Vite 6 and later, and VitePress 1 builds with Vite 5: take serveDist() out of "plugins", and wrap the configuration in the default export of "@serve-dist/vite/vitepress"',
    )
  })
})
