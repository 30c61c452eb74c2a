import { join } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import { blobKey, type NamedBlob } from '@serve-dist/store'
import { fetchMissingBlob } from './fetch-missing-blob.ts'
import { type Generation, readCachedDeltas, readCachedGeneration } from './cached-generation.ts'
import type { CachedBuilds } from './open-mirror.ts'
import type { SendStoreRequest } from './share-mirror.ts'

/**
 * Opens the builds of a store through the process that mirrors it. That process chooses the builds and
 * fetches missing files.
 *
 * @throws OperatorError if the current build is not available.
 */
export async function openSharedMirror(ask: SendStoreRequest): Promise<CachedBuilds> {
  const { place, cache, ids: served } = await ask({ kind: 'builds', isStart: true })
  let generations: readonly Generation[] = []
  generations = await generationsOf(served)

  async function generationsOf([newest = '', ...older]: readonly string[]): Promise<readonly Generation[]> {
    const current = await generationOf(newest)
    if (current === undefined) {
      throw new OperatorError(
        'SD_GENERATION_MISSING',
        `${place}: the store no longer has build ${newest}. Reload to load its current build.`,
      )
    }
    return [current, ...(await thoseThere(older))]
  }

  async function thoseThere(ids: readonly string[]): Promise<readonly Generation[]> {
    return (await Promise.all(ids.map(generationOf))).filter((each) => each !== undefined)
  }

  async function generationOf(id: string): Promise<Generation | undefined> {
    const found = generations.find((each) => each.id === id) ?? (await readCachedGeneration(cache, id))
    if (found !== undefined) return found
    // The cache may be empty now.
    const { isThere } = await ask({ kind: 'generation', id })
    return isThere ? await readCachedGeneration(cache, id) : undefined
  }

  async function fetch({ sha256, size }: NamedBlob): Promise<'fetched' | 'missing'> {
    const { isThere } = await ask({ kind: 'blob', blob: { sha256, size } })
    return isThere ? 'fetched' : 'missing'
  }

  return {
    place,
    cache,
    get generations() {
      return generations
    },
    async refresh() {
      generations = await generationsOf((await ask({ kind: 'builds', isStart: false })).ids)
    },
    listBuilds: async () => await thoseThere((await ask({ kind: 'listBuilds' })).ids),
    async readDeltas(id) {
      const { isThere } = await ask({ kind: 'deltas', id }).catch(() => ({ isThere: false }))
      return isThere ? await readCachedDeltas(cache, id).catch(() => undefined) : undefined
    },
    fileOf: (sha256) => join(cache, blobKey(sha256)),
    fetch,
    comparisons: new Map(),
    noteUse() {},
    fetchMissing: (stored) => fetchMissingBlob(stored, fetch),
  }
}
