import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { listFiles } from './tree.ts'

const entry = '\0entry'

/** Makes a plugin that emits the files of a folder, one of them changed if `changed` has its path. */
export function emitTree(folder: string, changed: string | undefined): Plugin {
  return {
    name: 'emit-tree',
    config: () => ({ build: { rollupOptions: { input: entry } } }),
    resolveId: (id) => (id === entry ? entry : undefined),
    load: (id) => (id === entry ? '' : undefined),
    async buildStart() {
      for (const path of await listFiles(folder)) {
        const source = await readFile(join(folder, path))
        this.emitFile({ type: 'asset', fileName: path, source: path === changed ? change(source) : source })
      }
    },
    generateBundle: {
      order: 'pre',
      handler(_options, bundle) {
        for (const [name, { type }] of Object.entries(bundle)) {
          if (type === 'chunk') Reflect.deleteProperty(bundle, name)
        }
      },
    },
  }
}

/** Changes a chunk. */
export function change(source: Uint8Array): Buffer {
  return Buffer.concat([source, Buffer.from('\n//# changed\n')])
}
