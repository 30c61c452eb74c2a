import { buildIdPath, servedBase } from '@serve-dist/manifest'
import MagicString from 'magic-string'
import type { Plugin, ResolvedConfig } from 'vite'
import { importedUrl, isForeign } from '../environment/environment-url.ts'
import { type Integration, frameworkBase } from '../integrations/frameworks.ts'
import { readPackageFile } from '../read-package-file.ts'

/** What an application imports. */
const clientImport = 'virtual:serve-dist/client'

const resolvedImport = `\0${clientImport}`

/** What client/client.js says for the URL of the file that names the current build, and a chunk until it has a name. */
const buildUrlToken = 'serve-dist:build-url'

/** Where there is no build of a page: in development, in workers and on servers. */
const inert = 'export const watchForUpdates = () => () => {}\n'

/** Where nothing else loads it. */
const inertPlugin = {
  name: 'serve-dist:client',
  enforce: 'pre',
  resolveId: (id) => (id === clientImport ? resolvedImport : undefined),
  load: (id) => (id === resolvedImport ? inert : undefined),
} satisfies Plugin

/**
 * Gives applications `virtual:serve-dist/client`: a page that imports it reloads when a chunk of its build is gone, and
 * can be told of another build.
 */
export function clientPlugin(integration: Integration): Plugin {
  let config: ResolvedConfig
  return {
    ...inertPlugin,

    config: () => ({ worker: { plugins: () => [inertPlugin] } }),

    // Up to Vite 7, what bundles dependencies in development does not ask plugins.
    configEnvironment: () => ({ optimizeDeps: { exclude: [clientImport] } }),

    configResolved: (resolved) => void (config = resolved),

    load(id) {
      if (id !== resolvedImport) return undefined
      if (config.command !== 'build' || this.environment.config.consumer !== 'client') return inert
      const url = frameworkBase(config, integration) ?? (isRelative(config) ? undefined : config.base)
      // Vite would take the token for a file, if it stood in `new URL` with import.meta.url by itself.
      const expression =
        url === undefined
          ? `new URL(${JSON.stringify(buildUrlToken)}, '' + import.meta.url)`
          : JSON.stringify(encodeURI(servedBase(url) + buildIdPath))
      return readPackageFile('client/client.js').replace(`'${buildUrlToken}'`, () => expression)
    },

    // Before minifiers, which may write another kind of quotes, and before hashes.
    renderChunk(code, chunk) {
      if (!code.includes(buildUrlToken)) return null
      const text = new MagicString(code)
      text.replaceAll(buildUrlToken, importedUrl(config, buildIdPath, chunk.fileName))
      return { code: text.toString(), map: text.generateMap({ hires: 'boundary' }) }
    },
  }
}

/** Whether pages find the files of the build by where its chunks lie. */
function isRelative(config: ResolvedConfig): boolean {
  return !/^\/|:/.test(config.base) && !isForeign(importedUrl(config, buildIdPath, ''))
}
