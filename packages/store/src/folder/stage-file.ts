import { randomUUID } from 'node:crypto'
import { fdatasync } from 'node:fs'
import { open, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Readable } from 'node:stream'
import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { flushFolder } from '@serve-dist/foundation/files/flush-folder'
import type { Written } from '../backend.ts'
import { makeStoreFolder } from './make-store-folder.ts'
import { versionOf } from './stored-file.ts'

const flushData = promisify(fdatasync)

/** A temporary file. */
export interface StagedFile extends Written {
  readonly path: string
}

/** Writes a temporary file and flushes it. */
export async function stageFile(
  staging: string,
  content: Readable,
  signal: AbortSignal | undefined,
): Promise<StagedFile> {
  const path = join(staging, randomUUID())
  const handle = await inFolder(staging, async () => await open(path, 'wx'))
  try {
    await handle.writeFile(content, { signal })
    // Uses the descriptor, because the file handles of Yarn PnP have no `datasync`.
    await flushData(handle.fd)
    const stats = await handle.stat({ bigint: true })
    await handle.close()
    return { path, version: versionOf(stats), time: Number(stats.mtimeMs) }
  } catch (error) {
    await handle.close()
    await unlink(path).catch(() => undefined)
    throw error
  } finally {
    content.destroy()
  }
}

/** Returns whether a rename failed because another process has the file open, as virus scanners on Windows do. */
const isBusy = (error: unknown): boolean =>
  process.platform === 'win32' &&
  error instanceof Error &&
  'code' in error &&
  (error.code === 'EPERM' || error.code === 'EACCES' || error.code === 'EBUSY')

/**
 * Renames a temporary file to its key.
 *
 * @returns the folder to flush.
 */
export async function moveIntoPlace(path: string, target: string): Promise<string> {
  const folder = dirname(target)
  await inFolder(folder, async () => {
    for (let wait = 10; ; wait *= 2) {
      try {
        await rename(path, target)
        return
      } catch (error) {
        if (!isBusy(error) || wait > 1000) throw error
        await setTimeout(wait)
      }
    }
  })
  return folder
}

async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isNotFoundError(error)) throw error
    for (const made of await makeStoreFolder(folder)) await flushFolder(dirname(made))
    return await work()
  }
}

/** Creates a function that flushes folders. Calls during a flush share the next flush. */
export function createSharedFlush(): (folder: string) => Promise<void> {
  const running = new Map<string, Promise<void>>()
  const waiting = new Map<string, Promise<void>>()
  const begin = async (folder: string): Promise<void> => {
    await running.get(folder)?.catch(() => undefined)
    const next = waiting.get(folder)
    waiting.delete(folder)
    if (next !== undefined) running.set(folder, next)
    await flushFolder(folder)
  }
  return async (folder) => {
    const joined = waiting.get(folder)
    if (joined !== undefined) return await joined
    const flight = Promise.resolve().then(async () => await begin(folder))
    waiting.set(folder, flight)
    await flight
  }
}
