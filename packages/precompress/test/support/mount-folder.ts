import { execFile } from 'node:child_process'
import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

const run = promisify(execFile)

/** Mounts a file system on the folder until the test ends. */
export async function mountFolder(folder: string, ...options: readonly string[]): Promise<void> {
  await run('mount', [...options, folder])
  onTestFinished(async () => {
    await run('umount', [folder])
  })
}

/** Returns whether this process may mount file systems. Otherwise the tests are skipped with a warning. */
export async function canMountFolders(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-'))
  try {
    await run('mount', ['-t', 'tmpfs', 'tmpfs', folder])
    await run('umount', [folder])
    return true
  } catch {
    console.warn('Full disks and read-only folders are not tested: this process may not mount file systems.')
    return false
  } finally {
    await rmdir(folder)
  }
}
