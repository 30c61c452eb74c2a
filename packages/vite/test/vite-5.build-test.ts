import { describe, expect, test } from 'vitest'
import { build, type PluginOption } from 'vite5'
import serveDist from '../src/index.ts'
import { application, createProject } from './support/project.ts'
import { isChosen } from './support/vites.ts'

/** Casts the plugin, because its types are those of later versions. */
function untyped(plugin: unknown): PluginOption {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Vite 5 takes any object with hooks
  return plugin as PluginOption
}

describe.runIf(isChosen({ name: 'Vite 8' }))('a build by Vite 5', () => {
  test('is rejected before it starts, with the fix', async () => {
    const project = await createProject(application)
    const { root } = project
    const built = build({ root, configFile: false, logLevel: 'silent', plugins: [untyped(serveDist())] })
    await expect(built).rejects.toThrow(
      'serveDist() needs Vite 6 or later: an older version runs this build. Remove serveDist() from "plugins", and run "npx @serve-dist/server compress dist" after the build.',
    )
    await expect(built).rejects.toHaveProperty('code', 'SD_VITE_UNSUPPORTED')
    await expect(project.list()).rejects.toThrow('ENOENT')
  })

  test('in VitePress names its integration', async () => {
    const { root } = await createProject(application)
    // VitePress 1.6 has this plugin and this version of Vite.
    const plugins = [{ name: 'vitepress' }, untyped(serveDist())]
    await expect(build({ root, configFile: false, logLevel: 'silent', plugins })).rejects.toThrow(
      'serveDist() needs Vite 6 or later: VitePress 1 builds with Vite 5. Remove serveDist() from "plugins", and wrap the configuration in the default export of "@serve-dist/vite/vitepress".',
    )
  })
})
