import { type BigIntStats, close, constants, fstat, open, readlinkSync, type Stats } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Flags for reading. O_NONBLOCK prevents endless waiting if the path is a FIFO. */
export const readingFlags: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Flags for reading a path that must not be a link. Windows has no such flag. */
export const linklessFlags: number = readingFlags | (constants.O_NOFOLLOW ?? 0)

/** An open file and its state at that time. */
export interface OpenedFile {
  readonly descriptor: number
  readonly stats: BigIntStats
}

/** The error for a path that leads to a folder, a FIFO or a device. */
export class NotRegularError extends Error {
  override readonly name = 'NotRegularError'

  constructor() {
    super('is not a regular file')
  }
}

/** Reads the state of an open file. */
export const statDescriptor: (descriptor: number) => Promise<BigIntStats> = (descriptor) =>
  new Promise((resolve, reject) => {
    fstat(descriptor, { bigint: true }, (error, stats) => {
      if (error === null) resolve(stats)
      else reject(error)
    })
  })

/**
 * Closes a descriptor asynchronously. Closing the last descriptor of a deleted large file frees its blocks.
 */
export const closeDescriptor: (descriptor: number) => Promise<void> = promisify(close)

const openDescriptor = promisify(open)

/**
 * Opens a file for reading.
 *
 * @throws NotRegularError for anything but a regular file, or the system's own error.
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
 * Returns the real path of an open file. Links may change between resolving a path and opening it.
 *
 * @param path - the path that was opened.
 * @returns `undefined` if the path now leads to another file and the system cannot resolve open files.
 */
export async function realPathOf(
  { descriptor, stats }: OpenedFile,
  path: string,
): Promise<string | undefined> {
  if (process.platform === 'linux') {
    try {
      // `/proc` is in memory, hence the synchronous call.
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      // `/proc` is not mounted.
    }
  }
  const real = await realpath(path)
  const found = await lstat(real, { bigint: true })
  return found.dev === stats.dev && found.ino === stats.ino ? real : undefined
}

/** Returns a text that changes if the size, modification time or inode of a file changes. */
export function fingerprintOf({ size, mtimeNs, dev, ino }: BigIntStats): string {
  return `${size}:${mtimeNs}:${dev}:${ino}`
}

/**
 * Returns the time of the last change, including changes of name or permissions. Unlike the modification
 * time, which `cp -a` and `rsync -a` set, programs cannot set it. It therefore reveals other bytes with the
 * same fingerprint.
 */
export function changeTimeOf({ ctimeNs }: BigIntStats): string {
  return ctimeNs.toString()
}

/** @throws NotRegularError for anything but a regular file. */
export function expectRegular(stats: Stats | BigIntStats): void {
  if (!stats.isFile()) throw new NotRegularError()
}
