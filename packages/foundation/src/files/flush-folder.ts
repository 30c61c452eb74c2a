import { fsync } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'

/** What file systems answer that cannot flush a folder, such as shares and FUSE; Windows cannot open one. */
const unsupported = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM', 'EACCES'])

const flush = promisify(fsync)

/** Flushes the names in a folder, where the system can do that. */
export async function flushFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r')
    // By its descriptor: Yarn's PnP patches `node:fs` with handles that have no `sync`.
    await flush(handle.fd).finally(async () => await handle.close())
  } catch (error) {
    const isUnsupported = error instanceof Error && 'code' in error && unsupported.has(String(error.code))
    if (!isUnsupported) throw error
  }
}
