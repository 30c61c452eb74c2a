import { join, relative, resolve } from 'node:path'
import { finishBuild } from '../pass/finish-build.ts'
import { recordingPlugins } from '../plugin.ts'
import { isInside } from '../record/output-folders.ts'
import type { ServeDistOptions } from '../serve-dist-options.ts'

/**
 * Wraps an adapter of SvelteKit: when it has written the build, what browsers may ask for is compressed and described
 * in a manifest: `adapter: serveDist(adapter({ fallback: '404.html' }))`.
 */
export default function serveDist<Adapter extends AdapterLike>(
  adapter: Adapter,
  options: ServeDistOptions = {},
): Adapter {
  const { vite } = adapter
  return {
    ...adapter,
    // From SvelteKit 3 on, adapters bring Vite plugins.
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
      // adapter-node has variants of its own, of which ours would be a second set.
      builder.compress = async (target) =>
        isInside(join(folder, 'x'), resolve(target)) ? [] : await compress.call(builder, target)
      builder.generateFallback = async (file) => {
        fallback = relative(folder, file)
        await generateFallback.call(builder, file)
      }
      await adapter.adapt(builder)
      if (folder === '') {
        console.warn(
          `serve-dist: ${adapter.name} wrote nothing that can be served: use adapter-static or -node`,
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

/** What an adapter asks of Vite, with our plugin after all others. */
function withRecording(vite: AdapterVite = {}, options: ServeDistOptions): AdapterVite {
  const { plugins = [] } = vite
  const { pre = [], post = [] } = Array.isArray(plugins) ? { pre: plugins } : plugins
  // SvelteKit, whose pages never pass here, warns of plugins that have this hook.
  const ours = recordingPlugins(options, 'sveltekit').map(
    ({ transformIndexHtml: _never, ...plugin }) => plugin,
  )
  return { ...vite, plugins: { pre, post: [...post, ...ours] } }
}

/** What the wrapper needs of an adapter of SvelteKit 2 and 3. */
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
