import { type BigIntStats, close, constants, fstat, open, readlinkSync, type Stats } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { promisify } from 'node:util'

/** How files are opened: without O_NONBLOCK, a FIFO in a file's place would be waited for, for ever. */
export const readingFlags: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** The same for what must not be a link; Windows has no such flag. */
export const linklessFlags: number = readingFlags | (constants.O_NOFOLLOW ?? 0)

/** A file that is open, and what it was when it was opened. */
export interface OpenedFile {
  readonly descriptor: number
  readonly stats: BigIntStats
}

/** A path that leads to a folder, a FIFO or a device. */
export class NotRegularError extends Error {
  override readonly name = 'NotRegularError'

  constructor() {
    super('is not a regular file')
  }
}

/** The state of an open file. */
export const statDescriptor: (descriptor: number) => Promise<BigIntStats> = (descriptor) =>
  new Promise((resolve, reject) => {
    fstat(descriptor, { bigint: true }, (error, stats) => {
      if (error === null) resolve(stats)
      else reject(error)
    })
  })

/** Closes a descriptor, off the event loop: the last one of a large file that is removed frees its blocks. */
export const closeDescriptor: (descriptor: number) => Promise<void> = promisify(close)

const openDescriptor = promisify(open)

/**
 * Opens a file for reading.
 *
 * @throws NotRegularError for whatever is no regular file, the system's own error for what cannot be opened.
 */
export async function openRegularFile(path: string, flags: number = readingFlags): Promise<OpenedFile> {
  const descriptor = await openDescriptor(path, flags)
  try {
    const stats = await statDescriptor(descriptor)
    expectRegular(stats)
    return { descriptor, stats }
  } catch (error) {
    await closeDescriptor(descriptor)
    throw error
  }
}

/**
 * Where an open file really lies: links may have been moved between a look at a path and its opening.
 *
 * @param path - by which it was opened.
 * @returns `undefined` where the path leads to another file by now, and the system does not tell of open ones.
 */
export async function realPathOf(
  { descriptor, stats }: OpenedFile,
  path: string,
): Promise<string | undefined> {
  if (process.platform === 'linux') {
    try {
      // Memory of the kernel: nothing is waited for.
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      // `/proc` is not mounted.
    }
  }
  const real = await realpath(path)
  const found = await lstat(real, { bigint: true })
  return found.dev === stats.dev && found.ino === stats.ino ? real : undefined
}

/** A file as `stat` sees it: another content shows as another size, time or inode. */
export function fingerprintOf({ size, mtimeNs, dev, ino }: BigIntStats): string {
  return `${size}:${mtimeNs}:${dev}:${ino}`
}

/**
 * When anything of a file changed, its name and rights included. Nobody can set this time, as `cp -a` and `rsync -a` set
 * that of the last modification: other bytes under the fingerprint of before show by it.
 */
export function changeTimeOf({ ctimeNs }: BigIntStats): string {
  return ctimeNs.toString()
}

/** @throws NotRegularError for whatever is no regular file. */
export function expectRegular(stats: Stats | BigIntStats): void {
  if (!stats.isFile()) throw new NotRegularError()
}
