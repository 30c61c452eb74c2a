import { type PreviewDistOptions, resolvePreviewDistOptions } from './preview-dist-options.ts'
import type { PreviewServer } from './preview-server.ts'

export type { PreviewDistOptions } from './preview-dist-options.ts'

/** A plugin as Vite 6, 7 and 8 take it. */
export interface PreviewDistPlugin {
  readonly name: string
  readonly enforce: 'post'
  readonly apply: 'serve'
  readonly configurePreviewServer: {
    readonly order: 'post'
    handler(this: unknown, server: PreviewServer): Promise<(() => void) | undefined>
  }
}

/** The name of the plugin. */
const pluginName = 'serve-dist:preview'

/**
 * A plugin for Vite 6, 7 and 8: `vite preview` answers from the build in `build.outDir` as production does, whoever
 * compressed it. Nothing is done in a build or in the development server. `@serve-dist/vite` has it inside;
 * where both are configured, this one answers.
 *
 * @throws OperatorError that names the option, what was found and what is expected.
 */
export default function previewDist(options: PreviewDistOptions = {}): PreviewDistPlugin {
  const resolved = resolvePreviewDistOptions(options)
  const plugin: PreviewDistPlugin = {
    name: pluginName,
    enforce: 'post',
    apply: 'serve',
    configurePreviewServer: {
      order: 'post',
      // Vite 6 gives no context, and asks its plugins before it checks the host.
      async handler(server) {
        // One answers: the first that is configured, else the one that `@serve-dist/vite` made.
        const first = server.config.plugins.find(({ name }) => name === pluginName) ?? plugin
        if (first !== plugin) return undefined
        const { configurePreview } = await import('./configure-preview.ts')
        return await configurePreview(server, this !== undefined, resolved)
      },
    },
  }
  return plugin
}
