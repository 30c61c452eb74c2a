import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import type { StoreBackend } from '../backend.ts'
import type { ResolvedChangeOptions } from '../change-options.ts'
import type { NamedBlob } from '../layout.ts'
import { type Inventory, keyToSend } from '../list-objects.ts'
import { timeLimitFor, withTimeLimit } from '../with-time-limit.ts'

/** Reads blobs from the store and returns those that do not match their digests. */
export async function findCorruptBlobs<Blob extends NamedBlob>(
  store: StoreBackend,
  { blobs, inventory }: { readonly blobs: readonly Blob[]; readonly inventory: Inventory },
  { concurrency, signal }: Pick<ResolvedChangeOptions, 'concurrency' | 'signal'>,
): Promise<readonly Blob[]> {
  const spoilt: Blob[] = []
  await forEachConcurrently(blobs, concurrency, async (blob) => {
    const key = keyToSend(inventory, blob)
    const limit = { milliseconds: timeLimitFor(blob.size), signal }
    const found = await withTimeLimit({ place: store.place, verb: 'read', key }, limit, async (end) => {
      const object = await store.read(key, { signal: end })
      const digest = createHash('sha256')
      if (object !== undefined && object !== 'unchanged') await pipeline(object.body, digest, { signal: end })
      return digest.digest('hex')
    })
    if (found !== blob.sha256) spoilt.push(blob)
  })
  return spoilt
}
