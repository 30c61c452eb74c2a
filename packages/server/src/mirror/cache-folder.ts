import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { OperatorError, shellWord } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'

/** Who may write into a folder besides its owner: whoever may, decides what is served while the store is away. */
const othersMayWrite = 0o022

/**
 * Makes the folder that a store is mirrored in, with the store's own layout, in the one that caches lie in. That one may
 * belong to anybody, as a volume or `/tmp` does; ours is made by nobody else.
 *
 * @param named - the folder for caches, as the operator named it; without a name, the user's own.
 * @param identity - tells the store from all others.
 * @throws OperatorError where it cannot be made, or somebody else could write into it.
 */
export async function openCacheFolder(named: string | undefined, identity: string): Promise<string> {
  const id = createHash('sha256').update(identity).digest('hex').slice(0, 16)
  const folder = join(named === undefined ? defaultFolder() : resolve(named), id)
  try {
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
    await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    })
    await expectOurs(folder)
    for (const name of ['blobs', 'generations']) {
      await mkdir(join(folder, name), { recursive: true, mode: 0o700 })
    }
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause
    throw new OperatorError('SD_CACHE_UNUSABLE', `${folder}: cannot be made (${reasonOf(cause)}); ${cure}`, {
      cause,
    })
  }
  return folder
}

const cure = 'name another folder to make it in: --store-cache <dir>'

async function expectOurs(folder: string): Promise<void> {
  // Not what a link leads to: the link is somebody's, too.
  const problem = problemOf(folder, await lstat(folder))
  if (problem === undefined) return
  throw new OperatorError(
    'SD_CACHE_UNUSABLE',
    `${folder}: is no cache of a store: ${problem}, so that builds could be put there that nobody published; ${cure}`,
  )
}

function problemOf(folder: string, found: Stats): string | undefined {
  if (!found.isDirectory()) return 'it is no folder'
  const user = process.geteuid?.()
  if (user === undefined) return undefined
  if (found.uid !== user) {
    return `it belongs to the user with the id ${found.uid}, and this is the one with the id ${user}`
  }
  return (found.mode & othersMayWrite) === 0
    ? undefined
    : `others may write into it (chmod go-w ${shellWord(folder)})`
}

function defaultFolder(): string {
  const given = process.env['XDG_CACHE_HOME'] ?? ''
  // By its specification, a relative path does not count.
  return join(isAbsolute(given) ? given : join(homeFolder(), '.cache'), 'serve-dist')
}

function homeFolder(): string {
  try {
    return homedir()
  } catch (cause) {
    // A user without an entry in the system's list, as containers have them.
    throw new OperatorError('SD_CACHE_UNUSABLE', `this user has no home for a cache; ${cure}`, { cause })
  }
}
