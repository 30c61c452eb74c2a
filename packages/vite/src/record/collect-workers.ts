import type { Plugin } from 'vite'
import { isInlineWorker } from './policy-needs.ts'
import { createRequestedNames, findHashedNames } from './find-hashed-names.ts'

/** Facts from the bundles of workers. */
export interface CollectedWorkers {
  /** Hashed names and their stems. */
  readonly stems: Map<string, string>
  /** Names of the entry files of workers. */
  readonly scripts: Set<string>
  /** Modules in workers that start inline workers. */
  readonly inline: Set<string>
}

/**
 * Creates a plugin for `worker.plugins`. Vite bundles workers separately and emits them under their final names, so
 * only the worker's bundle knows its hashed names and its entry.
 */
export function collectWorkers({ stems, scripts, inline }: CollectedWorkers): Plugin {
  const asked = createRequestedNames()
  return {
    name: 'serve-dist:workers',
    outputOptions: {
      order: 'post',
      handler: (options) => ({ ...options, assetFileNames: asked.record(options.assetFileNames) }),
    },
    generateBundle: {
      order: 'post',
      handler(options, bundle) {
        const files = Object.values(bundle)
        for (const [name, stem] of findHashedNames(files, options, asked)) stems.set(name, stem)
        for (const file of files) {
          if (file.type !== 'chunk') continue
          if (file.isEntry) scripts.add(file.fileName)
          for (const id of file.moduleIds.filter(isInlineWorker)) inline.add(id)
        }
      },
    },
  }
}
