import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath } from '@serve-dist/manifest'
import { fingerprintOf } from '../files/open-regular-file.ts'

/**
 * What tells a folder's manifest from any other that stood or will stand there: where the folder really
 * is, and the file's identity, size and time. A manifest is placed by renaming, so each is a file of its own.
 *
 * @returns `undefined` when there is none.
 */
export async function markManifest(directory: string): Promise<string | undefined> {
  try {
    const root = await realpath(directory)
    const stats = await stat(join(root, manifestPath), { bigint: true })
    return `${root}:${stats.dev}:${fingerprintOf(stats)}`
  } catch {
    // Missing or unreadable: loading the build reports which, and why.
    return undefined
  }
}
