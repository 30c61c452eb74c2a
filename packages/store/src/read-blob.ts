import { buffer } from 'node:stream/consumers'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import type { StoreBackend, Stoppable } from './backend.ts'
import { blobKey, type History, keyIn, type NamedBlob } from './layout.ts'
import { withTimeLimit } from './with-time-limit.ts'

const longestRead = 60_000

/**
 * Reads a blob into memory.
 *
 * @param history - has the key of the blob.
 * @returns `undefined` if the blob is missing or does not match its digest.
 */
export async function readBlob(
  store: StoreBackend,
  { sha256, size }: NamedBlob,
  { history, signal: given }: Stoppable & { readonly history: History },
): Promise<Uint8Array | undefined> {
  const key = keyIn(history, blobKey(sha256))
  const step = { place: store.place, verb: 'read', key } as const
  return await withTimeLimit(step, { milliseconds: longestRead, signal: given }, async (signal) => {
    const object = await store.read(key, { signal })
    if (object === undefined || object === 'unchanged') return undefined
    if (object.size !== size) {
      object.body.destroy()
      return undefined
    }
    const bytes = await buffer(object.body)
    return sha256Of(bytes) === sha256 ? bytes : undefined
  })
}
