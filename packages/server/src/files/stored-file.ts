import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { type BigIntStats, read } from 'node:fs'
import { promisify } from 'node:util'
import { type FileLease, retireFile } from './kept-file.ts'
import { changedFiles } from './changed-files.ts'
import { type DigestComparisons, hasDigest } from './compare-file.ts'
import { providerOf } from './file-provider.ts'
import {
  changeTimeOf,
  closeDescriptor,
  fingerprintOf,
  linklessFlags,
  NotRegularError,
  type OpenedFile,
  openRegularFile,
  statDescriptor,
} from './open-regular-file.ts'
import { memoizeWeakly } from '../site/memoize-weakly.ts'
import type { AnswerContent, StreamedBytes } from '../site/site.ts'

/** The range of a file that is sent as a body. */
export type FileContent = Extract<AnswerContent, { kind: 'file' }>

/**
 * The number of bytes that are read and sent at a time. Each slow client costs this much memory: 64 KiB
 * took 89 MB for a thousand clients and was not faster.
 */
export const chunkSize: number = 48 * 1024

const explanations = {
  gone: 'no longer exists. After each build, restart or reload the server',
  changed: 'changed since the server read it. After each build, restart or reload the server',
  unreadable: 'cannot read this file',
  lost: 'is neither in the cache nor in the store',
  away: 'is not in the cache, and the store is unreachable',
}

const statuses = { gone: 404, changed: 500, unreadable: 500, lost: 404, away: 503 } as const

const readDescriptor = promisify(read)

/** The error for a file that was deleted or changed since the start, or that cannot be fetched. */
export class StoredFileError extends Error {
  override readonly name = 'StoredFileError'
  readonly status: 404 | 500 | 503

  constructor(stored: Pick<StreamedBytes, 'file'>, what: keyof typeof statuses, options?: ErrorOptions) {
    const { cause } = options ?? {}
    const hasReason = what === 'unreadable' || what === 'away'
    const reason = hasReason && cause instanceof Error ? ` (${cause.message})` : ''
    super(`${stored.file}: ${explanations[what]}${reason}`, options)
    this.status = statuses[what]
    if (what === 'gone' || what === 'changed') changedFiles.publish(stored.file)
  }
}

/** An open file whose content is verified. */
export interface StoredFile {
  readonly descriptor: number
  /** The state when it was opened for this answer. */
  readonly stats: BigIntStats
  /** Call it once, after the last read. */
  close(): Promise<void>
}

/**
 * Verifies that a file is unchanged since the start, by its open descriptor or by opening it. A missing or
 * changed file of a cache is fetched.
 *
 * @param lease - the result of `leaseFile`, which the caller releases.
 * @throws StoredFileError if the file is missing, changed, or cannot be fetched.
 */
export async function openStored(stored: StreamedBytes, lease: FileLease | undefined): Promise<StoredFile> {
  const provider = providerOf(stored)
  if (provider === undefined) return await openExpected(stored, lease)
  provider.noteUse(stored)
  try {
    return await openExpected(stored, lease)
  } catch {
    // Fetch the file after any error: the server never sends a wrong file.
    retireFile(stored)
    await provider.fetchMissing(stored)
    return await openExpected(stored, undefined)
  }
}

async function openExpected(stored: StreamedBytes, lease: FileLease | undefined): Promise<StoredFile> {
  if (lease !== undefined) {
    const { descriptor } = lease
    const stats = await expectUnchanged(descriptor, stored)
    return { descriptor, stats, close: async () => {} }
  }
  const opened = await openRegularFile(stored.file, linklessFlags).catch((cause: unknown) => {
    throw new StoredFileError(stored, whyClosed(cause), { cause })
  })
  const close = (): Promise<void> => closeDescriptor(opened.descriptor)
  const isSame = await isUnchanged(opened, stored).catch(async (error: unknown) => {
    await close()
    throw error
  })
  if (isSame) return { ...opened, close }
  await close()
  throw new StoredFileError(stored, 'changed')
}

/** Other reasons, such as too many open files or missing permissions, are server errors. */
function whyClosed(error: unknown): 'gone' | 'changed' | 'unreadable' {
  if (error instanceof NotRegularError) return 'changed'
  return isNotFoundError(error) ? 'gone' : 'unreadable'
}

async function expectUnchanged(descriptor: number, stored: StreamedBytes): Promise<BigIntStats> {
  const stats = await statDescriptor(descriptor).catch((cause: unknown) => {
    throw new StoredFileError(stored, 'unreadable', { cause })
  })
  if (!(await isUnchanged({ descriptor, stats }, stored))) throw new StoredFileError(stored, 'changed')
  return stats
}

/** Comparisons of a folder's files. The provider of a cache has its own, which outlive a build. */
const comparisonsOf = memoizeWeakly<StreamedBytes, DigestComparisons>(() => new Map())

/**
 * Returns whether a file has its original bytes. Other times result from a deletion, changed permissions, a
 * copy of the same bytes, or other bytes with an old time (`cp -a`). Then the bytes are compared, once for
 * all callers.
 */
async function isUnchanged(opened: OpenedFile, stored: StreamedBytes): Promise<boolean> {
  const { stats } = opened
  if (stats.size !== BigInt(stored.size)) return false
  const isFile = fingerprintOf(stats) === stored.fingerprint
  if ((isFile && changeTimeOf(stats) === stored.changeTime) || stored.sha256 === undefined) return isFile
  return await hasDigest(opened, stored.sha256, providerOf(stored)?.comparisons ?? comparisonsOf(stored))
}

/**
 * Yields the bytes of a body in chunks.
 *
 * @param reused - one buffer for all chunks, if the caller is done with each chunk before it requests the
 *   next.
 * @throws StoredFileError before the last chunk if the file changed while it was read.
 */
export async function* readRange(
  { descriptor, stats }: StoredFile,
  { stored, first, end }: FileContent,
  reused?: Buffer,
): AsyncGenerator<Buffer> {
  let position = first
  while (position < end) {
    const buffer = reused ?? Buffer.allocUnsafe(Math.min(chunkSize, end - position))
    const length = Math.min(buffer.length, end - position)
    const { bytesRead } = await readDescriptor(descriptor, buffer, 0, length, position)
    position += bytesRead
    if (bytesRead === 0) throw new StoredFileError(stored, 'changed')
    // Hold the last bytes back until the file is known to be unchanged: a mixed body must not look
    // complete.
    if (position === end && !isAsBefore(await expectUnchanged(descriptor, stored), stats, stored)) {
      throw new StoredFileError(stored, 'changed')
    }
    yield buffer.subarray(0, bytesRead)
  }
}

/**
 * Returns whether a file is unchanged at the end of an answer. Without a known digest, the change time must
 * be equal as well, because other bytes may have the same modification time. A deleted name is harmless.
 */
function isAsBefore(now: BigIntStats, before: BigIntStats, { sha256 }: StreamedBytes): boolean {
  if (fingerprintOf(now) !== fingerprintOf(before)) return false
  return sha256 !== undefined || now.ctimeNs === before.ctimeNs || now.nlink !== before.nlink
}
