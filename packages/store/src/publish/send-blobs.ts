import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { Content, StoreBackend } from '../backend.ts'
import { sumBytes } from '../sum-bytes.ts'
import { type Inventory, keyToSend } from '../list-objects.ts'
import type { ResolvedPublishOptions } from './publish-options.ts'
import { buildMismatchError, type SourceBlob } from './read-source-build.ts'

/** The largest file to read into memory, in bytes. Larger files are streamed. */
const largestHeld = 1024 * 1024

/**
 * Sends blobs. A dry run only reports progress.
 *
 * @returns the keys of the blobs.
 * @throws OperatorError `SD_MANIFEST_MISMATCH` if a file does not match the manifest.
 */
export async function sendBlobs(
  store: StoreBackend,
  {
    directory,
    blobs,
    inventory,
  }: { readonly directory: string; readonly blobs: readonly SourceBlob[]; readonly inventory: Inventory },
  { concurrency, isDryRun, onProgress, signal }: ResolvedPublishOptions,
): Promise<ReadonlyMap<string, string>> {
  const keys = new Map(blobs.map((blob) => [blob.sha256, keyToSend(inventory, blob)]))
  const all = { allBlobs: blobs.length, allBytes: sumBytes(blobs) }
  const sent = { blobs: 0, bytes: 0 }
  await forEachConcurrently(blobs, concurrency, async (blob) => {
    signal?.throwIfAborted()
    const key = keys.get(blob.sha256)
    if (!isDryRun && key !== undefined) await sendBlob(store, { directory, blob, key }, signal)
    sent.blobs += 1
    sent.bytes += blob.size
    onProgress({ ...sent, ...all })
  })
  return keys
}

async function sendBlob(
  store: StoreBackend,
  { directory, blob, key }: { readonly directory: string; readonly blob: SourceBlob; readonly key: string },
  signal: AbortSignal | undefined,
): Promise<void> {
  const content = await openFile(directory, blob)
  try {
    await store.put(key, content, { signal })
  } catch (error) {
    // The backend checks the digest but does not know the path.
    if (!(error instanceof OperatorError) || error.code !== 'SD_BUILD_CHANGED') throw error
    throw buildMismatchError(directory, [`${blob.path}: does not match the manifest (SHA-256 differs)`])
  }
}

async function openFile(directory: string, { path, size }: SourceBlob): Promise<Content> {
  const file = join(directory, path)
  if (size > largestHeld) return { size, open: () => createReadStream(file, { highWaterMark: 256 * 1024 }) }
  try {
    return await readFile(file)
  } catch (error) {
    throw buildMismatchError(directory, [`${path}: cannot read this file (${reasonOf(error)})`])
  }
}
