import type { Plugin, ResolvedConfig } from 'vite'
import { environmentImport } from './environment-import.ts'
import { environmentPlugin } from './environment-plugin.ts'
import type { EnvironmentSettings } from './environment-settings.ts'
import { importedUrl, isForeign } from './environment-url.ts'
import { importMapPlugin } from './import-map-plugin.ts'
import { integrityPlugin } from './integrity-plugin.ts'
import { type EnvironmentWorkers, fileOf, forgetStarts, workerProblems } from './environment-workers.ts'
import { outputFormatPlugin } from './output-format-plugin.ts'
import { workerBundlePlugin, workerStartPlugin } from './worker-plugins.ts'

/** Creates the plugins for `virtual:serve-dist/env` in pages and workers. */
export function environmentPlugins(settings: EnvironmentSettings | undefined): Plugin[] {
  const workers: EnvironmentWorkers = { bundles: new Map(), starts: new Map() }
  return [
    environmentPlugin(settings, workers),
    ...(settings
      ? [
          outputFormatPlugin(),
          importMapPlugin(settings),
          workerStartPlugin(settings, workers),
          integrityPlugin(settings),
        ]
      : []),
    workersPlugin(settings, workers),
  ]
}

/**
 * Creates a plugin that builds workers as modules, unless the user has chosen a format, and rejects workers that cannot
 * import the environment.
 */
function workersPlugin(settings: EnvironmentSettings | undefined, workers: EnvironmentWorkers): Plugin {
  let isFormatChosen = false
  let config: ResolvedConfig
  return {
    name: 'serve-dist:env-workers',

    config({ worker }) {
      isFormatChosen = worker?.format !== undefined
      const plugins = () => [
        environmentPlugin(settings, workers),
        ...(settings ? [workerStartPlugin(settings, workers), workerBundlePlugin(settings, workers)] : []),
      ]
      return { worker: { ...(settings && !isFormatChosen && { format: 'es' }), plugins } }
    },

    configResolved: (resolved) => void (config = resolved),

    // Check before the build writes to the folder, and after the plugin above has collected all workers.
    buildEnd: {
      order: 'pre',
      handler(error) {
        if (settings === undefined || error !== undefined || this.environment.config.consumer !== 'client')
          return
        forgetStarts(workers, new Set(this.getModuleIds()))
        const { root, base, worker } = config
        const foreignBase = isForeign(importedUrl(config, settings.environment.path, '')) ? base : undefined
        const problems = workerProblems(workers, { root, foreignBase, format: worker.format, isFormatChosen })
        if (problems.length === 0) return
        const message = `${environmentImport}:\n  ${problems.join('\n  ')}`
        // After an error, Rollup watches only these files.
        const importers = [...workers.bundles.values()].flatMap((bundle) => bundle.importers)
        const watchFiles = [...this.getModuleIds(), ...workers.bundles.keys(), ...importers].map(fileOf)
        this.error(Object.assign(new Error(message), { watchFiles }))
      },
    },
  }
}
