import { join } from 'node:path'
import { replaceFile } from '@serve-dist/foundation/files/replace-file'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { type Manifest, OperatorError, parseManifest, stringifyManifest } from '@serve-dist/manifest'
import {
  type DeltasDocument,
  deltasKey,
  generationKey,
  parseDeltas,
  stringifyDeltas,
} from '@serve-dist/store'
import { readOptional } from '../files/read-optional.ts'

/** A build of a store. */
export interface Generation {
  readonly id: string
  readonly manifest: Manifest
  /** The path of its manifest in the cache. */
  readonly file: string
}

/** Reads the cached manifest of a build; returns `undefined` if it is missing or invalid. */
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
  await writeDocument(file, stringifyManifest(manifest))
  return { id, manifest, file }
}

/** Reads the cached deltas of a build; returns `undefined` if they are missing or invalid. */
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
  await writeDocument(join(cache, deltasKey(id)), stringifyDeltas(document))
}

/**
 * Writes a document to the cache atomically.
 *
 * @throws OperatorError
 */
export async function writeDocument(file: string, text: string): Promise<void> {
  await replaceFile(file, text).catch((cause: unknown) => {
    throw new OperatorError(
      'SD_WRITE_FAILED',
      `${file}: cannot write this file (${reasonOf(cause)}). Free space on the disk, or let this user write to the folder.`,
      { cause },
    )
  })
}
