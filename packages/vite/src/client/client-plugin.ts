import { buildIdPath, servedBase } from '@serve-dist/manifest'
import MagicString from 'magic-string'
import type { Plugin, ResolvedConfig } from 'vite'
import { importedUrl, isForeign } from '../environment/environment-url.ts'
import { type Integration, frameworkBase } from '../integrations/frameworks.ts'
import { exactly } from '../exactly.ts'
import { readPackageFile } from '../read-package-file.ts'

/** The name that an application imports. */
const clientImport = 'virtual:serve-dist/client'

const resolvedImport = `\0${clientImport}`

/** A placeholder in client/client.js for the URL of the file with the current build id. */
const buildUrlToken = 'serve-dist:build-url'

/** The module for development, workers and servers, where pages have no build. */
const inert = 'export const watchForUpdates = () => () => {}\n'

/** The plugin for places where the module does nothing. */
const inertPlugin = {
  name: 'serve-dist:client',
  enforce: 'pre',
  resolveId: {
    filter: { id: exactly(clientImport) },
    handler: (id) => (id === clientImport ? resolvedImport : undefined),
  },
  load: {
    filter: { id: exactly(resolvedImport) },
    handler: (id) => (id === resolvedImport ? inert : undefined),
  },
} satisfies Plugin

/**
 * Creates the plugin for `virtual:serve-dist/client`. A page that imports it reloads if a chunk of its build is gone,
 * and can detect another build.
 */
export function clientPlugin(integration: Integration): Plugin {
  let config: ResolvedConfig
  return {
    ...inertPlugin,

    config: () => ({ worker: { plugins: () => [inertPlugin] } }),

    // Up to Vite 7, the optimizer of dependencies does not call plugins.
    configEnvironment: () => ({ optimizeDeps: { exclude: [clientImport] } }),

    configResolved: (resolved) => void (config = resolved),

    load: {
      ...inertPlugin.load,
      handler(id) {
        if (id !== resolvedImport) return undefined
        if (config.command !== 'build' || this.environment.config.consumer !== 'client') return inert
        const url = frameworkBase(config, integration) ?? (isRelative(config) ? undefined : config.base)
        // In a plain `new URL(…, import.meta.url)`, Vite would treat the placeholder as a file.
        const expression =
          url === undefined
            ? `new URL(${JSON.stringify(buildUrlToken)}, '' + import.meta.url)`
            : JSON.stringify(encodeURI(servedBase(url) + buildIdPath))
        return readPackageFile('client/client.js').replace(`'${buildUrlToken}'`, () => expression)
      },
    },

    // Replace before minifiers run, because they may change quotes, and before hashes are computed.
    renderChunk(code, chunk) {
      if (!code.includes(buildUrlToken)) return null
      const text = new MagicString(code)
      text.replaceAll(buildUrlToken, importedUrl(config, buildIdPath, chunk.fileName))
      return { code: text.toString(), map: text.generateMap({ hires: 'boundary' }) }
    },
  }
}

/** Returns whether pages resolve files relative to the location of chunks. */
function isRelative(config: ResolvedConfig): boolean {
  return !/^\/|:/.test(config.base) && !isForeign(importedUrl(config, buildIdPath, ''))
}
