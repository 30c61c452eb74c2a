import { resolve } from 'node:path'
import { retireManifest } from '@serve-dist/precompress'
import type { Environment } from 'vite'

/**
 * Withdraws the manifests of the folders that an environment is about to write to, public files first: when
 * the build does not come to its end, none is left that tells of other bytes.
 */
export async function retireManifests({ config: { root, build } }: Environment): Promise<void> {
  if (!build.write) return
  const outputs = [build.rollupOptions.output ?? []].flat()
  const folders = [
    resolve(root, build.outDir),
    ...outputs.flatMap(({ dir }) => (dir === undefined ? [] : [resolve(dir)])),
  ]
  for (const folder of new Set(folders)) await retireManifest(folder)
}
