import { join } from 'node:path'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import {
  carriedDeltasPath,
  carriedFolder,
  largestKeptList,
  loadOptional,
  type Manifest,
  OperatorError,
} from '@serve-dist/manifest'
import { readOptional } from '../files/read-optional.ts'
import type { StoredDeltas } from '../site/kept-build.ts'
import type { DeltaRoom } from './build-source.ts'

/**
 * Reads the deltas that `serve-dist carry` made for a folder, like those of a store. It never rejects.
 *
 * @returns `undefined` for a folder without deltas.
 */
export async function readCarriedDeltas(
  root: string,
  manifest: Manifest,
  { room, onWarning }: DeltaRoom,
): Promise<StoredDeltas | undefined> {
  const file = join(root, carriedDeltasPath)
  try {
    const text = await readOptional(file, { most: largestKeptList })
    if (text === undefined) return undefined
    const { dictionaryGenerations, parseDeltas } = await loadOptional(
      { name: '@serve-dist/store', neededBy: file },
      async () => await import('@serve-dist/store/deltas'),
    )
    const document = parseDeltas(text, file)
    if ([...document.files.values()].some(({ size }) => size > dictionaryGenerations)) {
      const problem = `a file has more than ${dictionaryGenerations} dictionaries. Carry again.`
      throw new OperatorError('SD_FOLDER_UNREADABLE', `${file}: ${problem}`)
    }
    // Few folders have deltas, so that most starts do not load this module.
    const { readDeltasIntoMemory } = await import('../mirror/read-deltas-into-memory.ts')
    const cache = {
      readDeltas: async () => document,
      fetch: async () => 'fetched' as const,
      fileOf: (sha256: string) => join(root, carriedFolder, sha256),
    }
    return await readDeltasIntoMemory(cache, { id: manifest.buildId, manifest }, room)
  } catch (error) {
    onWarning(`serving without deltas: ${reasonOf(error)}`)
    return undefined
  }
}
