import { isMissing } from '@serve-dist/manifest'
import { type BigIntStats, read } from 'node:fs'
import { promisify } from 'node:util'
import type { FileLease } from './kept-file.ts'
import { changedFiles } from './changed-files.ts'
import { digestUnchanged } from './digest-file.ts'
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
}

const readDescriptor = promisify(read)

/** A file that vanished or changed since boot. */
export class StoredFileError extends Error {
  override readonly name = 'StoredFileError'
  readonly status: 404 | 500

  constructor(stored: StreamedBytes, what: 'gone' | 'changed' | 'unreadable', options?: ErrorOptions) {
    const { cause } = options ?? {}
    const reason = what === 'unreadable' && cause instanceof Error ? ` (${cause.message})` : ''
    super(`${stored.file}: ${explanations[what]}${reason}`, options)
    this.status = what === 'gone' ? 404 : 500
    if (what !== 'unreadable') changedFiles.publish(stored.file)
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
 * by opening it.
 *
 * @param lease - what `leaseFile` gave when it was decided to send the file; its owner releases it.
 * @throws StoredFileError when it is gone or another one.
 */
export async function openStored(stored: StreamedBytes, lease: FileLease | undefined): Promise<StoredFile> {
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
  return isMissing(error) ? 'gone' : 'unreadable'
}

async function expectUnchanged(descriptor: number, stored: StreamedBytes): Promise<BigIntStats> {
  const stats = await statDescriptor(descriptor).catch((cause: unknown) => {
    throw new StoredFileError(stored, 'unreadable', { cause })
  })
  if (!(await isUnchanged({ descriptor, stats }, stored))) throw new StoredFileError(stored, 'changed')
  return stats
}

/** The last state of a file that was another one than at boot, and whether its bytes were the same. */
const compared = new WeakMap<StreamedBytes, { readonly state: string; readonly isSame: Promise<boolean> }>()

/**
 * Another time comes of a removal, of other rights, of a copy that gives the same bytes a new time, or of other bytes, to
 * which `cp -a` may give the time of those before. So the bytes are compared, once for all who ask.
 */
async function isUnchanged({ descriptor, stats }: OpenedFile, stored: StreamedBytes): Promise<boolean> {
  if (stats.size !== BigInt(stored.size)) return false
  const [fingerprint, changeTime] = [fingerprintOf(stats), changeTimeOf(stats)]
  const isFile = fingerprint === stored.fingerprint
  if ((isFile && changeTime === stored.changeTime) || stored.sha256 === undefined) return isFile
  const state = `${fingerprint}:${changeTime}`
  let comparison = compared.get(stored)
  if (comparison?.state !== state) {
    const isSame = digestUnchanged(descriptor, stats).then((digest) => digest === stored.sha256)
    // What could not be read this time is read again the next.
    isSame.catch(() => compared.delete(stored))
    comparison = { state, isSame }
    compared.set(stored, comparison)
  }
  return await comparison.isSame
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
