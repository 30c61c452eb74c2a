import type { Plugin } from 'vite'
import { isInlineWorker } from './policy-needs.ts'
import { createRequestedNames, findHashedNames } from './find-hashed-names.ts'

/** What the bundles of workers tell. */
export interface CollectedWorkers {
  /** The names that were hashed, each with its stem. */
  readonly stems: Map<string, string>
  /** The names of the files that workers start from. */
  readonly scripts: Set<string>
  /** The modules in workers that start inline workers. */
  readonly inline: Set<string>
}

/**
 * A plugin for `worker.plugins`: Vite bundles each worker by itself and emits the result under its final
 * name, so only the worker's own bundle knows which names carry a hash, and which file the worker starts from.
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
