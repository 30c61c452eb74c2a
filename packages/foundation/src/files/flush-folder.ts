import { fsync } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Errors of file systems that cannot flush a folder, such as network shares and FUSE. Windows cannot open a folder. */
const unsupported = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM', 'EACCES'])

const flush = promisify(fsync)

/** Flushes the names in a folder, if the system supports it. */
export async function flushFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r')
    // Uses the descriptor, because the file handles of Yarn PnP have no `sync`.
    await flush(handle.fd).finally(async () => await handle.close())
  } catch (error) {
    const isUnsupported = error instanceof Error && 'code' in error && unsupported.has(String(error.code))
    if (!isUnsupported) throw error
  }
}
