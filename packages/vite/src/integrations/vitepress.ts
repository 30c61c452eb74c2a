import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { servedBase } from '@serve-dist/manifest'
import { finishBuild } from '../pass/finish-build.ts'
import { recordingPlugins } from '../plugin.ts'
import type { ServeDistOptions } from '../serve-dist-options.ts'
import { hashedNameFacts } from './frameworks.ts'

/** What a configuration of VitePress has, as far as ours changes it. */
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
 * Compresses and describes the folder that VitePress deploys when its pages are there: `export default
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

/** VitePress 1 brings Vite 5, where the plugin cannot run: there the pass must do without what the bundler knows. */
function hasEnvironments(): boolean {
  // Of the project, or of the command that runs, wherever it was started.
  const paths = [process.cwd(), dirname(realpathSync(process.argv[1] ?? '.'))]
  const vitepress = createRequire(import.meta.url).resolve('vitepress/package.json', { paths })
  const vite: unknown = createRequire(vitepress)('vite/package.json')
  const { version = '' }: { version?: string } = Object(vite)
  return Number.parseInt(version, 10) >= 6
}
