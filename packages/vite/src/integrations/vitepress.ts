import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { servedBase } from '@serve-dist/manifest'
import { finishBuild } from '../compression/finish-build.ts'
import { recordingPlugins } from '../plugin.ts'
import type { ServeDistOptions } from '../serve-dist-options.ts'
import { hashedNameFacts } from './frameworks.ts'

/** The part of VitePress's configuration that the wrapper changes. */
export interface VitePressConfig {
  vite?: { plugins?: unknown[] }
  buildEnd?(site: VitePressSite): unknown
}

interface VitePressSite {
  readonly srcDir: string
  readonly outDir: string
  readonly assetsDir: string
  readonly site: { readonly base: string }
  readonly logger: { info(text: string): void; warn(text: string): void }
}

/**
 * Compresses and describes the folder that VitePress deploys, after its pages are written: `export default
 * withServeDist(defineConfig({ … }))`.
 */
export default function withServeDist<Config extends VitePressConfig>(
  config: Config,
  options: ServeDistOptions = {},
): Config {
  const plugins = hasEnvironments() ? recordingPlugins(options, 'vitepress') : []
  return {
    ...config,
    vite: { ...config.vite, plugins: [...(config.vite?.plugins ?? []), ...plugins] },
    async buildEnd(site: VitePressSite) {
      await config.buildEnd?.(site)
      await finishBuild({
        folder: site.outDir,
        root: site.srcDir,
        options,
        base: servedBase(site.site.base),
        ...hashedNameFacts('vitepress', site.assetsDir),
        log: site.logger,
      })
    },
  }
}

/**
 * Returns whether the plugin can run. VitePress 1 contains Vite 5, so the compression gets no facts from the bundler.
 */
function hasEnvironments(): boolean {
  // Resolve from the project, or from the running command if it was started elsewhere.
  const paths = [process.cwd(), dirname(realpathSync(process.argv[1] ?? '.'))]
  const vitepress = createRequire(import.meta.url).resolve('vitepress/package.json', { paths })
  const vite: unknown = createRequire(vitepress)('vite/package.json')
  const { version = '' }: { version?: string } = Object(vite)
  return Number.parseInt(version, 10) >= 6
}
