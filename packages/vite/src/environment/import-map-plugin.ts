import type { Plugin, ResolvedConfig, Rollup } from 'vite'
import { warnOnce } from '../instances.ts'
import type { EnvironmentSettings } from './environment-settings.ts'
import { importedUrl, isForeign, nameInBundle, pageUrl } from './environment-url.ts'
import { mapImport } from './import-map.ts'

/**
 * Creates a plugin that adds an import map to pages if chunks are on another host. The map redirects the environment
 * module to the page's own host.
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
        if (mapInBundle(bundle, config, { [from]: to })) return html
        try {
          return mapImport(html, from, to)
        } catch (cause) {
          throw new Error(
            `${page}: its import map is not valid JSON. Fix it, because it must map ${from} to ${to}.`,
            { cause },
          )
        }
      },
    },

    // If Vite wrote no page, the framework renders the pages.
    writeBundle(_output, bundle) {
      const { from, to } = urls('')
      if (hasPages || !isForeign(from) || !isImportedIn(bundle, nameInBundle(config, path))) return
      const map = JSON.stringify({ imports: { [from]: to } })
      warnOnce(config, [
        `[serve-dist] chunks import the environment from ${from}, which is the same for all stages. Add this to each page, before its scripts: <script type="importmap">${map}</script>`,
      ])
    },
  }
}

/**
 * Adds imports to the import map of chunks. Vite 8 writes it into each page if `build.chunkImportMap` is set, and older
 * browsers ignore a second map. Returns `false` if there is no such map.
 */
function mapInBundle(
  bundle: Rollup.OutputBundle = {},
  { build }: ResolvedConfig,
  added: Readonly<Record<string, string>>,
): boolean {
  // Types of Vite 7 lack both options.
  const { chunkImportMap, rolldownOptions } = Object(build)
  if (chunkImportMap !== true) return false
  const named = Object(rolldownOptions.experimental?.chunkImportMap)
  const asset = bundle[named.fileName ?? 'importmap.json']
  if (asset?.type !== 'asset') return false
  const map = Object(JSON.parse(Buffer.from(asset.source).toString()))
  asset.source = JSON.stringify({ ...map, imports: { ...map.imports, ...added } })
  return true
}

/** Returns whether a chunk imports the file, statically or dynamically. */
function isImportedIn(bundle: object = {}, name: string): boolean {
  return Object.values(bundle).some(
    (file) => file.type === 'chunk' && [...file.imports, ...file.dynamicImports].includes(name),
  )
}
