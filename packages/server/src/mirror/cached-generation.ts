import { randomUUID } from 'node:crypto'
import { mkdir, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMissing, reasonOf } from '@serve-dist/foundation/files/file-error'
import { type Manifest, OperatorError, parseManifest, stringifyManifest } from '@serve-dist/manifest'
import {
  type DeltasDocument,
  deltasKey,
  generationKey,
  parseDeltas,
  stringifyDeltas,
} from '@serve-dist/store'
import { readOptional } from '../files/read-optional.ts'

/** A build that a store keeps. */
export interface Generation {
  readonly id: string
  readonly manifest: Manifest
  /** Its manifest in the cache. */
  readonly file: string
}

/** What an earlier process, or another one, wrote into a cache; `undefined` where it is not what it has to be. */
export async function readCachedGeneration(cache: string, id: string): Promise<Generation | undefined> {
  const file = join(cache, generationKey(id))
  try {
    const text = await readOptional(file)
    if (text === undefined) return undefined
    const manifest = parseManifest(text)
    return manifest.buildId === id ? { id, manifest, file } : undefined
  } catch {
    return undefined
  }
}

export async function cacheGeneration(cache: string, id: string, manifest: Manifest): Promise<Generation> {
  const file = join(cache, generationKey(id))
  await replaceFile(file, stringifyManifest(manifest))
  return { id, manifest, file }
}

/** As {@link readCachedGeneration}, of the deltas of a build. */
export async function readCachedDeltas(cache: string, id: string): Promise<DeltasDocument | undefined> {
  const file = join(cache, deltasKey(id))
  const text = await readOptional(file)
  try {
    return text === undefined ? undefined : parseDeltas(text, file)
  } catch {
    return undefined
  }
}

export async function cacheDeltas(cache: string, id: string, document: DeltasDocument): Promise<void> {
  await replaceFile(join(cache, deltasKey(id)), stringifyDeltas(document))
}

/**
 * Written aside and renamed: another process reads the one before, or this one. A folder that was deleted is made anew.
 *
 * @throws OperatorError
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const aside = `${file}.${randomUUID()}.part`
  try {
    await writeFile(aside, text, { flag: 'wx' }).catch(async (error: unknown) => {
      if (!isMissing(error)) throw error
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(aside, text, { flag: 'wx' })
    })
    await rename(aside, file)
  } catch (cause) {
    throw new OperatorError('SD_WRITE_FAILED', `${file}: cannot be written (${reasonOf(cause)})`, { cause })
  } finally {
    await unlink(aside).catch(() => {})
  }
}
