import cluster from 'node:cluster'
import type { ResolvedServeOptions } from './serve-options.ts'

/**
 * What the native engine cannot be had with, as the command names it.
 *
 * @param isWorker - whether it is one of our own workers that serves.
 */
export async function engineObstacles(
  { engine, ssr }: Pick<ResolvedServeOptions, 'engine' | 'ssr'>,
  isWorker: boolean,
): Promise<readonly string[]> {
  const found = [
    !isWorker && cluster.isWorker && 'a cluster of other workers',
    // A light call of an application costs more through the relay; who wants that may have it.
    engine === 'auto' && ssr !== undefined && (await hasOneCore()) && '--ssr on one core',
  ]
  return found.filter((name) => name !== false)
}

async function hasOneCore(): Promise<boolean> {
  const { usableCores } = await import('@serve-dist/manifest/usable-cores')
  return usableCores() === 1
}
