import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type { StoreBackend } from '../backend.ts'
import { forEachAtOnce } from '../for-each-at-once.ts'
import { blobKey, type NamedBlob } from '../layout.ts'

/** Reads blobs back, and finds those that have other bytes than their names say. */
export async function findSpoilt<Blob extends NamedBlob>(
  store: StoreBackend,
  blobs: readonly Blob[],
  concurrency: number,
): Promise<readonly Blob[]> {
  const spoilt: Blob[] = []
  await forEachAtOnce(blobs, concurrency, async (blob) => {
    const object = await store.read(blobKey(blob.sha256))
    const digest = createHash('sha256')
    if (object !== undefined && object !== 'unchanged') await pipeline(object.body, digest)
    if (digest.digest('hex') !== blob.sha256) spoilt.push(blob)
  })
  return spoilt
}
