import { type PreviewDistOptions, resolvePreviewDistOptions } from './preview-dist-options.ts'
import type { PreviewServer } from './preview-server.ts'

export type { PreviewDistOptions } from './preview-dist-options.ts'

/** A plugin for Vite 6, 7 and 8. */
export interface PreviewDistPlugin {
  readonly name: string
  readonly enforce: 'post'
  readonly apply: 'serve'
  readonly configurePreviewServer: {
    readonly order: 'post'
    handler(this: unknown, server: PreviewServer): Promise<(() => void) | undefined>
  }
}

const pluginName = 'serve-dist:preview'

/**
 * Creates a plugin for Vite 6, 7 and 8 that makes `vite preview` answer like the production server, from
 * the build in `build.outDir`. It affects neither builds nor the development server. `@serve-dist/vite`
 * includes it. If both are configured, this plugin answers.
 *
 * @throws OperatorError that names the wrong option, its value and the expected values.
 */
export default function previewDist(options: PreviewDistOptions = {}): PreviewDistPlugin {
  const resolved = resolvePreviewDistOptions(options)
  const plugin: PreviewDistPlugin = {
    name: pluginName,
    enforce: 'post',
    apply: 'serve',
    configurePreviewServer: {
      order: 'post',
      // Vite 6 gives no context, and calls plugins before it checks the host.
      async handler(server) {
        // Only one plugin answers: the first in the configuration, otherwise the one of `@serve-dist/vite`.
        const first = server.config.plugins.find(({ name }) => name === pluginName) ?? plugin
        if (first !== plugin) return undefined
        const { configurePreview } = await import('./configure-preview.ts')
        return await configurePreview(server, this !== undefined, resolved)
      },
    },
  }
  return plugin
}
