import type { Plugin, ResolvedConfig } from 'vite'
import { warnOnce } from '../instances.ts'
import type { EnvironmentSettings } from './environment-settings.ts'
import { importedUrl, isForeign, nameInBundle, pageUrl } from './environment-url.ts'
import { mapImport } from './import-map.ts'

/**
 * Where chunks lie on another host, which is the same for every stage, each page says by an import map that the
 * environment is that of its own host.
 */
export function importMapPlugin({ environment: { path } }: EnvironmentSettings): Plugin {
  let config: ResolvedConfig
  let hasPages = false
  const urls = (page: string) => ({ from: importedUrl(config, path, page), to: pageUrl(config, path, page) })
  return {
    name: 'serve-dist:env-import-map',
    apply: 'build',
    configResolved: (resolved) => void (config = resolved),

    transformIndexHtml: {
      order: 'post',
      handler(html, { chunk, bundle, path: page }) {
        hasPages = true
        const { from, to } = urls(page.slice(1))
        if (chunk === undefined || !isForeign(from) || !isImportedIn(bundle, nameInBundle(config, path)))
          return html
        try {
          return mapImport(html, from, to)
        } catch (cause) {
          throw new Error(`${page}: its import map is no JSON, and must point ${from} to ${to}`, { cause })
        }
      },
    },

    // When Vite has written its pages, those of a framework come from elsewhere.
    writeBundle(_output, bundle) {
      const { from, to } = urls('')
      if (hasPages || !isForeign(from) || !isImportedIn(bundle, nameInBundle(config, path))) return
      const map = JSON.stringify({ imports: { [from]: to } })
      warnOnce(config, [
        `[serve-dist] ${from}: chunks import the environment from there, whatever the stage is; put this into each page before its scripts: <script type="importmap">${map}</script>`,
      ])
    },
  }
}

/** Whether any chunk imports it, at once or later. */
function isImportedIn(bundle: object = {}, name: string): boolean {
  return Object.values(bundle).some(
    (file) => file.type === 'chunk' && [...file.imports, ...file.dynamicImports].includes(name),
  )
}
