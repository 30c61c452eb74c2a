import { join, relative, resolve } from 'node:path'
import { finishBuild } from '../compression/finish-build.ts'
import { recordingPlugins } from '../plugin.ts'
import { isInside } from '../record/output-folders.ts'
import type { ServeDistOptions } from '../serve-dist-options.ts'

/**
 * Wraps an adapter of SvelteKit. After the adapter has written the build, the wrapper compresses the files for browsers
 * and writes their manifest: `adapter: serveDist(adapter({ fallback: '404.html' }))`.
 */
export default function serveDist<Adapter extends AdapterLike>(
  adapter: Adapter,
  options: ServeDistOptions = {},
): Adapter {
  const { vite } = adapter
  return {
    ...adapter,
    // Since SvelteKit 3, adapters can contain Vite plugins.
    vite:
      typeof vite === 'function'
        ? (context: never) => withRecording(vite(context), options)
        : withRecording(vite, options),
    async adapt(builder: BuilderLike) {
      const { writeClient, compress, generateFallback } = builder
      let folder = ''
      let fallback = ''
      builder.writeClient = (target) => {
        folder = resolve(target)
        return writeClient.call(builder, target)
      }
      // Disable the variants of adapter-node, which would duplicate those of serve-dist.
      builder.compress = async (target) =>
        isInside(join(folder, 'x'), resolve(target)) ? [] : await compress.call(builder, target)
      builder.generateFallback = async (file) => {
        fallback = relative(folder, file)
        await generateFallback.call(builder, file)
      }
      await adapter.adapt(builder)
      if (folder === '') {
        console.warn(
          `serve-dist: ${adapter.name} wrote no files that the server can serve. Use adapter-static or adapter-node.`,
        )
        return
      }
      const { paths, appDir } = 'paths' in builder.config ? builder.config : builder.config.kit
      await finishBuild({
        folder,
        root: process.cwd(),
        options,
        base: `${paths.base}/`,
        assetsDirectory: appDir,
        promises: [`${appDir}/immutable/**`],
        ...(fallback === 'index.html' && { appType: 'spa' }),
        log: { info: console.log, warn: console.warn },
      })
    },
  }
}

/** Adds the recording plugins after the adapter's own Vite plugins. */
function withRecording(vite: AdapterVite = {}, options: ServeDistOptions): AdapterVite {
  const { plugins = [] } = vite
  const { pre = [], post = [] } = Array.isArray(plugins) ? { pre: plugins } : plugins
  // SvelteKit warns about plugins with this hook, because its pages never reach it.
  const ours = recordingPlugins(options, 'sveltekit').map(
    ({ transformIndexHtml: _never, ...plugin }) => plugin,
  )
  return { ...vite, plugins: { pre, post: [...post, ...ours] } }
}

/** The part of adapters of SvelteKit 2 and 3 that the wrapper uses. */
interface AdapterLike {
  readonly name: string
  readonly vite?: AdapterVite | ((context: never) => AdapterVite)
  adapt(builder: BuilderLike): unknown
}

interface AdapterVite {
  readonly plugins?: unknown[] | { readonly pre?: unknown[]; readonly post?: unknown[] }
}

interface BuilderLike {
  readonly config: KitConfig | { readonly kit: KitConfig }
  writeClient: (folder: string) => string[]
  compress: (folder: string) => Promise<unknown>
  generateFallback: (file: string) => Promise<void>
}

interface KitConfig {
  readonly paths: { readonly base: string }
  readonly appDir: string
}
