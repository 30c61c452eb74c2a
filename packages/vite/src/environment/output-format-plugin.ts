import type { Plugin, ResolvedConfig, Rollup } from 'vite'
import { environmentImport, environmentToken } from './environment-import.ts'
import { placeOfImport } from './environment-workers.ts'

/** Creates a plugin that rejects outputs that are not modules, because they cannot import the environment. */
export function outputFormatPlugin(): Plugin {
  let config: ResolvedConfig
  return {
    name: 'serve-dist:env-format',
    enforce: 'pre',
    apply: 'build',
    configResolved: (resolved) => void (config = resolved),

    // Check before Vite empties the folder.
    renderStart: {
      order: 'pre',
      sequential: true,
      handler({ format }) {
        if (config.isWorker || this.environment.config.consumer !== 'client') return
        const cure = cureOf(format, config)
        if (cure === undefined) return
        const places = [...this.getModuleIds()]
          .filter((id) => isImporter(this.getModuleInfo(id)))
          .map((id) => placeOfImport(config.root, id))
        if (places.length > 0) this.error(`${environmentImport}: ${cure} (imported in ${places.join(', ')})`)
      },
    },
  }
}

function cureOf(format: string, config: ResolvedConfig): string | undefined {
  // The legacy plugin sets this for chunks for old browsers. On Vite 8, their format does not show it.
  if (format === 'system' || 'isOutputOptionsForLegacyChunks' in config)
    return 'chunks for old browsers cannot import a module. Disable them with legacy({ renderLegacyChunks: false })'
  if (['es', 'esm', 'module'].includes(format)) return undefined
  return `output of the format "${format}" cannot import a module. Set rollupOptions.output.format or lib.formats to "es"`
}

function isImporter(info: Rollup.ModuleInfo | null): boolean {
  // Rolldown does not report whether it excluded a module.
  if (info === null || ('isIncluded' in info && info.isIncluded === false)) return false
  return [...info.importedIds, ...info.dynamicallyImportedIds].includes(environmentToken)
}
