import { OperatorError } from '@serve-dist/manifest'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { createHash } from 'node:crypto'
import { copyFile, link, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openStored, readRange } from '../files/stored-file.ts'
import type { Representation } from '../site/site.ts'

/** A file to write, relative to a folder. */
export interface FileToWrite {
  /** The path with `/` between segments. */
  readonly place: string
  readonly representation: Representation
  /** The modification time in seconds since the epoch. */
  readonly time: number
}

const atOnce = 8

/**
 * Writes files with their modification times into a new folder, a few at the same time.
 *
 * @throws OperatorError (`SD_BUILD_CHANGED`) if the bytes do not match their digest.
 */
export async function writeFiles(folder: string, files: readonly FileToWrite[]): Promise<void> {
  for (const place of new Set(files.map((file) => dirname(file.place)))) {
    await mkdir(join(folder, place), { recursive: true })
  }
  await forEachConcurrently(files, atOnce, (file) => writeRepresentation(folder, file))
}

async function writeRepresentation(
  folder: string,
  { place, representation, time }: FileToWrite,
): Promise<void> {
  const { bytes } = representation
  const handle = await open(join(folder, place), 'wx')
  try {
    if (bytes.body !== undefined) await handle.writeFile(bytes.body)
    else {
      const digest = createHash('sha256')
      const stored = await openStored(bytes, undefined)
      try {
        for await (const chunk of readRange(stored, {
          kind: 'file',
          stored: bytes,
          first: 0,
          end: bytes.size,
        })) {
          digest.update(chunk)
          await handle.writeFile(chunk)
        }
      } finally {
        await stored.close()
      }
      if (bytes.sha256 !== undefined && digest.digest('hex') !== bytes.sha256) {
        throw new OperatorError(
          'SD_BUILD_CHANGED',
          `${bytes.file}: the file changed during the export. Export again when no other program writes to the folder.`,
        )
      }
    }
    await handle.utimes(time, time)
  } finally {
    await handle.close()
  }
}

/** Hard-links files into another folder, or copies them if the file system does not support hard links. */
export async function linkFiles(from: string, to: string, places: readonly string[]): Promise<void> {
  for (const place of new Set(places.map((each) => dirname(each)))) {
    await mkdir(join(to, place), { recursive: true })
  }
  await forEachConcurrently(places, atOnce, async (place) => {
    const [source, target] = [join(from, place), join(to, place)]
    await link(source, target).catch(() => copyFile(source, target))
  })
}
