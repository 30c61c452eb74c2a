import { closeSync, openSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createFlushQueue } from './create-flush-queue.ts'

/** Writes a new file; when `durable`, its bytes are on the disk before this ends. */
export async function writeAside(path: string, bytes: Uint8Array, durable: boolean): Promise<void> {
  const descriptor = writeNew(path, bytes)
  if (!durable) {
    closeSync(descriptor)
    return
  }
  const flushes = createFlushQueue()
  await flushes.add(descriptor)
  await flushes.settle()
}

/**
 * Writes a new file and leaves it open. A write into the system's memory takes less time than asking Node's pool
 * for it.
 */
export function writeNew(path: string, bytes: Uint8Array): number {
  const descriptor = openSync(path, 'wx')
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** What file systems answer that cannot flush a folder, such as shares and FUSE; Windows cannot open one. */
const unsupported = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM', 'EACCES'])

/** Flushes the names in a folder, where the system can do that. */
export async function flushFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r')
    await handle.sync().finally(async () => await handle.close())
  } catch (error) {
    const isUnsupported = error instanceof Error && 'code' in error && unsupported.has(String(error.code))
    if (!isUnsupported) throw error
  }
}
