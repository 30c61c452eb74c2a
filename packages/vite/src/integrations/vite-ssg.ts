import { resolve } from 'node:path'
import type { Plugin, ResolvedConfig, UserConfig } from 'vite'
import { finishBuild } from '../compression/finish-build.ts'
import { recordingPlugins } from '../plugin.ts'
import type { ServeDistOptions } from '../serve-dist-options.ts'
import { registerIntegration } from './registered-integrations.ts'

/**
 * Creates the plugin for vite-ssg, which replaces the one for Vite. It compresses and describes the folder after all
 * pages are rendered and your own `ssgOptions.onFinished` has run.
 */
export default function serveDist(options: ServeDistOptions = {}): Plugin[] {
  let client: ResolvedConfig
  registerIntegration('vite-ssg')
  const onFinished = async (): Promise<void> => {
    const { root, build, logger } = client
    await finishBuild({
      folder: resolve(root, build.outDir),
      root,
      options,
      log: logger,
    })
  }
  return [
    ...recordingPlugins(options, 'vite-ssg'),
    {
      name: 'serve-dist:vite-ssg',
      apply: 'build',
      config: ({ ssgOptions }: SsgConfig): SsgConfig => ({
        ssgOptions: {
          onFinished: async () => {
            await ssgOptions?.onFinished?.()
            await onFinished()
          },
        },
      }),
      configResolved(config) {
        if (!config.build.ssr) client = config
      },
    },
  ]
}

/** Vite's configuration with the options of vite-ssg. */
type SsgConfig = UserConfig & { ssgOptions?: { onFinished?: () => void | Promise<void> } }
