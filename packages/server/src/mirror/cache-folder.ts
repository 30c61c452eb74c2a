import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { OperatorError, shellWord } from '@serve-dist/manifest'
import { hasErrorCode, reasonOf } from '@serve-dist/foundation/files/file-error'
import { makeFolder } from '@serve-dist/foundation/files/make-folder'

/**
 * Write permission for users besides the owner. They could change what is served while the store is
 * unreachable.
 */
const othersMayWrite = 0o022

/**
 * Creates the cache folder of a store, with the layout of the store. The parent folder may belong to
 * anyone, such as a volume or `/tmp`. The cache folder itself must belong to this user.
 *
 * @param named - the parent folder from the operator; the default is the user's cache folder.
 * @param identity - identifies the store.
 * @throws OperatorError if it cannot be created or another user can write to it.
 */
export async function openCacheFolder(named: string | undefined, identity: string): Promise<string> {
  const id = createHash('sha256').update(identity).digest('hex').slice(0, 16)
  const folder = join(named === undefined ? defaultFolder() : resolve(named), id)
  try {
    await makeFolder(dirname(folder), 0o700)
    await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
      if (!hasErrorCode(error, 'EEXIST')) throw error
    })
    await expectOurs(folder)
    for (const name of ['blobs', 'generations']) {
      await makeFolder(join(folder, name), 0o700)
    }
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause
    throw new OperatorError(
      'SD_CACHE_UNUSABLE',
      `${folder}: cannot create this folder (${reasonOf(cause)}). ${cure}`,
      {
        cause,
      },
    )
  }
  return folder
}

const cure = 'Use another folder: --store-cache <dir>'

async function expectOurs(folder: string): Promise<void> {
  // `lstat`, because another user may have created a link.
  const problem = problemOf(folder, await lstat(folder))
  if (problem === undefined) return
  throw new OperatorError(
    'SD_CACHE_UNUSABLE',
    `${folder}: cannot be the store cache, because ${problem}. ${cure}`,
  )
}

function problemOf(folder: string, found: Stats): string | undefined {
  if (!found.isDirectory()) return 'it is not a folder'
  const user = process.geteuid?.()
  if (user === undefined) return undefined
  if (found.uid !== user) {
    return `it belongs to user ${found.uid}, but serve-dist runs as user ${user}`
  }
  return (found.mode & othersMayWrite) === 0
    ? undefined
    : `other users can write to it (chmod go-w ${shellWord(folder)})`
}

function defaultFolder(): string {
  const given = process.env['XDG_CACHE_HOME'] ?? ''
  // The XDG specification ignores relative paths.
  return join(isAbsolute(given) ? given : join(homeFolder(), '.cache'), 'serve-dist')
}

function homeFolder(): string {
  try {
    return homedir()
  } catch (cause) {
    // Users in containers often have no entry in the password file.
    throw new OperatorError('SD_CACHE_UNUSABLE', `this user has no home folder for the cache. ${cure}`, {
      cause,
    })
  }
}
