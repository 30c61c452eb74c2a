import { lstat, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import type { Content, ListedObject, PutOptions, StoreBackend, Written } from '../backend.ts'
import { verifyContent } from '../verify-content.ts'
import { checkKey, type FailedStep, storeUnavailable } from '../store-error.ts'
import { folderTime, lockFolder } from './lock-folder.ts'
import { makeStoreFolder } from './make-store-folder.ts'
import { createSharedFlush, moveIntoPlace, stageFile } from './stage-file.ts'
import { openFile, versionAt } from './stored-file.ts'

/** The folder of unfinished files. A killed process leaves its file there. */
const stagingName = '.writing'
const lockName = '.lock'
const day = 24 * 60 * 60 * 1000
const statsAtOnce = 64

/**
 * Opens a store in a folder. Each object is written to a temporary file, flushed and renamed to its key.
 *
 * @param place - an absolute path.
 */
export function openFolderStore(place: string): StoreBackend {
  const staging = join(place, stagingName)
  const flush = createSharedFlush()
  /** The folder's clock minus this machine's clock, in milliseconds. */
  let ahead = 0

  const readClock = async (): Promise<number> => {
    await makeStoreFolder(staging)
    const asked = Date.now()
    const now = await folderTime(staging)
    ahead = now - asked
    return now
  }

  const attempt = async <T>(
    step: Omit<FailedStep, 'place'>,
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> => {
    try {
      signal?.throwIfAborted()
      return await work()
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : storeUnavailable({ place, ...step }, error)
    }
  }

  const write = async (key: string, content: Content, options: PutOptions): Promise<Written | 'conflict'> => {
    const { replaces, signal } = options
    const target = join(place, key)
    const { path, ...written } = await stageFile(staging, verifyContent(key, content), signal)
    const move = async (): Promise<void> => await flush(await moveIntoPlace(path, target))
    try {
      if (replaces === undefined) await move()
      else {
        const isReplaced = await lockFolder(join(place, lockName), async (confirm) => {
          await removeLeftovers(staging, await readClock())
          if ((await versionAt(target)) !== (replaces ?? undefined)) return false
          await confirm()
          await move()
          return true
        })
        if (!isReplaced) return 'conflict'
      }
      return written
    } finally {
      await unlink(path).catch(() => undefined)
    }
  }

  return {
    place,

    async read(key, { unless, signal } = {}) {
      checkKey(key)
      const open = async () => await openFile(join(place, key), { unless, signal, ahead })
      return await attempt({ verb: 'read', key }, open, signal)
    },

    async *list(prefix, { signal } = {}) {
      const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
      const find = async (): Promise<string[]> => await keysIn(place, folder)
      const keys = await attempt({ verb: 'list', key: prefix }, find, signal)
      const wanted = keys.filter((key) => key.startsWith(prefix))
      for (let first = 0; first < wanted.length; first += statsAtOnce) {
        const some = wanted.slice(first, first + statsAtOnce)
        const looked = some.map(
          async (key) => await attempt({ verb: 'list', key }, async () => await look(place, key), signal),
        )
        for (const object of await Promise.all(looked)) if (object !== undefined) yield object
      }
    },

    async put(key, content, options = {}) {
      checkKey(key)
      return await attempt(
        { verb: 'put', key },
        async () => await write(key, content, options),
        options.signal,
      )
    },

    async delete(key, { signal } = {}) {
      checkKey(key)
      const remove = async (): Promise<void> =>
        await unlink(join(place, key)).catch((error: unknown) => {
          if (!isNotFoundError(error)) throw error
        })
      await attempt({ verb: 'delete', key }, remove, signal)
    },

    async honoursConditions({ signal } = {}) {
      // The lock makes writes conditional. The caller is about to write by the folder's clock, which is read here.
      await attempt({ verb: 'put', key: stagingName }, readClock, signal)
      return true
    },
  }
}

/** Lists the keys of files at any depth. Names that start with a dot belong to the backend. */
async function keysIn(place: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(place, folder), { withFileTypes: true }).catch((error: unknown) => {
    if (isNotFoundError(error)) return []
    throw error
  })
  const keys: string[] = []
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    if (entry.isFile()) keys.push(folder + entry.name)
    else if (entry.isDirectory()) keys.push(...(await keysIn(place, `${folder}${entry.name}/`)))
  }
  return keys
}

async function look(place: string, key: string): Promise<ListedObject | undefined> {
  try {
    const { size, mtimeMs } = await lstat(join(place, key))
    return { key, size, modified: mtimeMs }
  } catch (error) {
    if (isNotFoundError(error)) return undefined
    throw error
  }
}

/** Removes files that killed processes left a day ago. */
async function removeLeftovers(staging: string, now: number): Promise<void> {
  for (const name of await readdir(staging)) {
    const path = join(staging, name)
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: now }))
    if (now - mtimeMs > day) await unlink(path).catch(() => undefined)
  }
}
