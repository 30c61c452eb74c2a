import { posix } from 'node:path'
import { defaultEnvironmentFile } from '../environment/environment-settings.ts'
import { finishBuild } from '../compression/finish-build.ts'
import { recordingPlugins } from '../plugin.ts'
import type { ServeDistOptions } from '../serve-dist-options.ts'

/**
 * A Nuxt module that compresses `.output/public` at the end of `nuxt build` and `nuxt generate`, and writes its
 * manifest.
 *
 * Add it as `modules: ['@serve-dist/vite/nuxt']`, or `[['@serve-dist/vite/nuxt', { … }]]` with options. If Nuxt's `ssr`
 * is off, unknown paths get the application's shell, `200.html`.
 */
export default function serveDist(inline: ServeDistOptions, nuxt: NuxtLike): void {
  const { dev, _prepare: isPreparing, ssr, srcDir, app, vite } = nuxt.options
  const { env, envFileName = defaultEnvironmentFile } = inline
  const options: ServeDistOptions = {
    ...inline,
    ...(!ssr && { serving: { fallback: 'spa', ...inline.serving } }),
    // Nuxt publishes only this folder of Vite's output.
    ...(env && { envFileName: posix.join(app.buildAssetsDir, envFileName).replace(/^\//, '') }),
  }
  vite.plugins = [...(vite.plugins ?? []), ...recordingPlugins(options, 'nuxt', app.baseURL)]
  if (dev || isPreparing) return

  nuxt.hook('nitro:config', (nitro) => {
    if (!nitro.compressPublicAssets) return
    nitro.compressPublicAssets = false
    console.log('serve-dist compresses public files, so it disables nitro.compressPublicAssets in this build')
  })
  nuxt.hook('nitro:init', (nitro) => {
    // Register late, so that this hook runs after the hooks of other modules.
    nuxt.hook('build:done', () => {
      nuxt.hook('close', async () => {
        await finishBuild({
          folder: nitro.options.output.publicDir,
          // Vite's root in Nuxt.
          root: srcDir,
          options,
          base: app.baseURL,
          log: { info: console.log, warn: console.warn },
        })
      })
    })
  })
}

/** The part of Nuxt 3 and 4 that the module uses. */
interface NuxtLike {
  readonly options: {
    readonly dev: boolean
    readonly _prepare: boolean
    readonly ssr: boolean
    readonly srcDir: string
    readonly app: { readonly baseURL: string; readonly buildAssetsDir: string }
    readonly vite: { plugins?: unknown[] }
  }
  hook(name: 'build:done' | 'close', run: () => void | Promise<void>): void
  hook(name: 'nitro:config', run: (config: { compressPublicAssets?: unknown }) => void): void
  hook(name: 'nitro:init', run: (nitro: NitroLike) => void): void
}

interface NitroLike {
  readonly options: { readonly output: { readonly publicDir: string } }
}
