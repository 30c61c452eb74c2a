import { resolve } from 'node:path'
import { retireManifest } from '@serve-dist/precompress'
import type { Environment } from 'vite'
import { outputFolders } from '../record/output-folders.ts'

/**
 * Withdraws the manifests of the folders that an environment is about to write to, public files first: when
 * the build does not come to its end, none is left that tells of other bytes.
 */
export async function retireManifests({ config }: Environment): Promise<void> {
  if (!config.build.write) return
  const folders = [resolve(config.root, config.build.outDir), ...outputFolders(config)]
  for (const folder of new Set(folders)) await retireManifest(folder)
}
