import type { Plugin } from 'vite'
import { createAskedNames, hashedNames } from './hashed-names.ts'

/**
 * A plugin for `worker.plugins`: Vite bundles each worker by itself and emits the result under its final
 * name, so only the worker's own bundle knows which names carry a hash. `names`: each with its stem.
 */
export function collectWorkerNames(names: Map<string, string>): Plugin {
  const asked = createAskedNames()
  return {
    name: 'serve-dist:workers',
    outputOptions: {
      order: 'post',
      handler: (options) => ({ ...options, assetFileNames: asked.record(options.assetFileNames) }),
    },
    generateBundle: {
      order: 'post',
      handler(options, bundle) {
        for (const [name, stem] of hashedNames(Object.values(bundle), options, asked)) names.set(name, stem)
      },
    },
  }
}
