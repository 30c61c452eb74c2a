import { resolve } from 'node:path'
import type { Environment } from 'vite'

/** The folders that the configuration of an environment gives its outputs. */
export function outputFolders({ root, build }: Environment['config']): string[] {
  const outputs = [build.rollupOptions.output ?? {}].flat()
  return outputs.map(({ dir }) => (dir === undefined ? resolve(root, build.outDir) : resolve(dir)))
}
