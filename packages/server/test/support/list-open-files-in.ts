import { readdirSync, readlinkSync } from 'node:fs'

/**
 * Lists the files below a folder that this process has open. Deleted files have their earlier path. Linux
 * only.
 */
export function listOpenFilesIn(directory: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`).replace(/ \(deleted\)$/, '')
      return path.startsWith(directory) ? [path] : []
    } catch {
      // The descriptor was closed after it was listed.
      return []
    }
  })
}
