import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { finishBuild } from '../compression/finish-build.ts'
import { recordingPlugins } from '../plugin.ts'
import type { ServeDistOptions } from '../serve-dist-options.ts'

/** The part of Astro's integration API that this integration uses. */
export interface AstroIntegration {
  readonly name: string
  readonly hooks: {
    'astro:config:setup'(setup: {
      readonly config: { readonly root: URL }
      updateConfig(this: void, added: { vite?: { plugins?: unknown[] } }): unknown
    }): void
    'astro:build:done'(build: {
      readonly dir: URL
      readonly logger: { info(text: string): void; warn(text: string): void }
    }): Promise<void>
  }
}

/**
 * Compresses and describes the folder that Astro deploys, `dist` or `dist/client`, after Astro has written pages and
 * images. Put this integration last in `integrations`.
 */
export default function serveDist(options: ServeDistOptions = {}): AstroIntegration {
  let root = ''
  return {
    name: 'serve-dist',
    hooks: {
      'astro:config:setup'({ config, updateConfig }) {
        root = resolve(fileURLToPath(config.root))
        updateConfig({ vite: { plugins: recordingPlugins(options, 'astro') } })
      },
      async 'astro:build:done'({ dir, logger }) {
        // Start with a line break: Astro prefixes the first line with the time.
        const log = {
          info: (text: string) => logger.info(`\n${text}`),
          warn: (text: string) => logger.warn(text),
        }
        await finishBuild({ folder: fileURLToPath(dir), root, options, log })
      },
    },
  }
}
