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

/** The part of a file that is a body. */
export type FileContent = Extract<AnswerContent, { kind: 'file' }>

/**
 * Bytes that are read and sent at a time. A reader that does not keep up costs this much memory: 64 KiB
 * made it 89 MB for a thousand of them, and sent nothing faster.
 */
export const chunkSize: number = 48 * 1024

const explanations = {
  gone: 'is not there any more; restart or reload the server after a build',
  changed: 'changed since the server read it; restart or reload the server after a build',
  unreadable: 'cannot be read',
  lost: 'is not in the cache, and the store does not have it any more',
  away: 'is not in the cache, and the store cannot be reached',
}

const statuses = { gone: 404, changed: 500, unreadable: 500, lost: 404, away: 503 } as const

const readDescriptor = promisify(read)

/** A file that vanished or changed since boot, or cannot be fetched. */
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

/** A file that is known to be the one that boot saw. */
export interface StoredFile {
  readonly descriptor: number
  /** What it was when it was opened for this answer. */
  readonly stats: BigIntStats
  /** Called once, when nothing more is read. */
  close(): Promise<void>
}

/**
 * Makes sure that a file is still the one that boot saw: by its open descriptor, where there is one, else
 * by opening it. A file of a cache is fetched where it is neither.
 *
 * @param lease - what `leaseFile` gave when it was decided to send the file; its owner releases it.
 * @throws StoredFileError when it is gone or another one, or cannot be fetched.
 */
export async function openStored(stored: StreamedBytes, lease: FileLease | undefined): Promise<StoredFile> {
  const provider = providerOf(stored)
  if (provider === undefined) return await openExpected(stored, lease)
  provider.noteUse(stored)
  try {
    return await openExpected(stored, lease)
  } catch {
    // Whatever is the matter with it: neither a missing file nor a wrong one is ever sent.
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

/** Whatever else keeps a file from being opened (no descriptors left, no permission) is the server's fault. */
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

/** Of files of a folder; those of a cache are its provider's, and outlive a build. */
const comparisonsOf = memoizeWeakly<StreamedBytes, DigestComparisons>(() => new Map())

/**
 * Another time comes of a removal, of other rights, of a copy that gives the same bytes a new time, or of other bytes, to
 * which `cp -a` may give the time of those before. So the bytes are compared, once for all who ask.
 */
async function isUnchanged(opened: OpenedFile, stored: StreamedBytes): Promise<boolean> {
  const { stats } = opened
  if (stats.size !== BigInt(stored.size)) return false
  const isFile = fingerprintOf(stats) === stored.fingerprint
  if ((isFile && changeTimeOf(stats) === stored.changeTime) || stored.sha256 === undefined) return isFile
  return await hasDigest(opened, stored.sha256, providerOf(stored)?.comparisons ?? comparisonsOf(stored))
}

/**
 * The bytes of a body, a chunk at a time.
 *
 * @param reused - one buffer for all chunks, for a caller that is done with a chunk before it asks for the next.
 * @throws StoredFileError before the last of them when the file changed meanwhile.
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
    // The last bytes are held back until the file proves to be unchanged: a mixed body is never whole.
    if (position === end && !isAsBefore(await expectUnchanged(descriptor, stored), stats, stored)) {
      throw new StoredFileError(stored, 'changed')
    }
    yield buffer.subarray(0, bytesRead)
  }
}

/**
 * Whether a file is the same at the end of an answer. Where no digest is known, the time of change has to be the same as
 * well, unless it is another one because a name was taken away: other bytes may have the time of before.
 */
function isAsBefore(now: BigIntStats, before: BigIntStats, { sha256 }: StreamedBytes): boolean {
  if (fingerprintOf(now) !== fingerprintOf(before)) return false
  return sha256 !== undefined || now.ctimeNs === before.ctimeNs || now.nlink !== before.nlink
}
