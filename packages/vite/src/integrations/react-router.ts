import { join } from 'node:path'
import { registerIntegration } from './registered-integrations.ts'
import { findActiveInstance } from '../instances.ts'
import type { CompressionLog } from '../compression/compression-request.ts'

/**
 * A preset for react-router.config that compresses the client's folder at the end of `react-router build` and writes
 * its manifest.
 *
 * Add it as `presets: [serveDist()]`. The plugin in Vite's configuration has the options, and records the names that
 * the bundler hashed.
 */
export default function serveDist(): ReactRouterPreset {
  return {
    name: 'serve-dist',
    reactRouterConfig() {
      registerIntegration('react-router')
      return { buildEnd }
    },
  }
}

async function buildEnd({ reactRouterConfig, viteConfig }: ReactRouterBuild): Promise<void> {
  const { plugins, root, logger } = viteConfig
  const plugin = findActiveInstance(plugins)
  if (plugin === undefined) {
    logger.warn(
      '[serve-dist] the plugin is missing, so serve-dist compresses nothing. Add serveDist() of "@serve-dist/vite" to Vite\'s "plugins".',
    )
  }
  const folder = join(reactRouterConfig.buildDirectory, 'client')
  await plugin?.finish({ folder, root, log: logger })
}

/** A preset of React Router 7 and 8. */
export interface ReactRouterPreset {
  readonly name: string
  readonly reactRouterConfig: () => { readonly buildEnd: (build: ReactRouterBuild) => Promise<void> }
}

/** The result of a build that React Router passes to presets. */
export interface ReactRouterBuild {
  readonly reactRouterConfig: { readonly buildDirectory: string }
  readonly viteConfig: {
    readonly root: string
    readonly plugins: readonly { readonly name: string; readonly api?: unknown }[]
    readonly logger: CompressionLog
  }
}
