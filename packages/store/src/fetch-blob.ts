import { createHash, randomUUID } from 'node:crypto'
import { rename, unlink, writeFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { StoreBackend, Stoppable } from './backend.ts'
import { blobKey, type History, keyIn, type NamedBlob } from './layout.ts'
import { storeUnavailable } from './store-error.ts'
import { timeLimitFor, withTimeLimit } from './with-time-limit.ts'

/** The number of attempts. One retry recovers from bytes that were corrupted in transit. */
const tries = 2

/**
 * Downloads a blob to a temporary file, checks its size and digest, and renames it. Does not flush the file.
 *
 * @param to - the path of the file, in an existing folder.
 * @param options - `history`: has the key of the blob. Without it, the plain key is read.
 * @throws OperatorError `SD_STORE_INVALID` if the store has other bytes, `SD_WRITE_FAILED` if the file cannot be
 * written.
 */
export async function fetchBlob(
  store: StoreBackend,
  { sha256, size }: NamedBlob,
  to: string,
  {
    history = {},
    signal: given,
  }: Stoppable & { readonly history?: Pick<History, 'suffixes'> | undefined } = {},
): Promise<'fetched' | 'missing'> {
  const key = keyIn(history, blobKey(sha256))
  const step = { place: store.place, verb: 'read', key } as const
  const limit = { milliseconds: timeLimitFor(size), signal: given }
  for (let left = tries; left > 0; left -= 1) {
    const aside = `${to}.${randomUUID()}.part`
    try {
      const found = await withTimeLimit(step, limit, async (signal) => {
        const object = await store.read(key, { signal })
        if (object === undefined || object === 'unchanged') return undefined
        if (object.size === size) return await writeDigested(object.body, aside, signal)
        object.body.destroy()
        return { size: object.size, sha256: '' }
      })
      if (found === undefined) return 'missing'
      if (found.size === size && found.sha256 === sha256) {
        await rename(aside, to)
        return 'fetched'
      }
      await unlink(aside).catch(() => undefined)
    } catch (error) {
      await unlink(aside).catch(() => undefined)
      if (error instanceof OperatorError || !(error instanceof Error && 'syscall' in error)) throw error
      if (error.syscall === 'read') throw storeUnavailable(step, error)
      throw new OperatorError(
        'SD_WRITE_FAILED',
        `${to}: cannot write this file (${reasonOf(error)}). Free space on the disk, or let this user write to the folder.`,
        {
          cause: error,
        },
      )
    }
  }
  const problem = `${store.place}: ${key} does not match its digest. Publish a build that contains this file again.`
  throw new OperatorError('SD_STORE_INVALID', problem)
}

async function writeDigested(body: Readable, to: string, signal: AbortSignal): Promise<NamedBlob> {
  const digest = createHash('sha256')
  let size = 0
  async function* digested(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      digest.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  try {
    // A write stream would dominate the cost of small blobs (bench:store).
    await writeFile(to, digested(), { flag: 'wx', signal })
  } finally {
    body.destroy()
  }
  return { sha256: digest.digest('hex'), size }
}
