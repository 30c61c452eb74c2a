import { readdirSync, readlinkSync } from 'node:fs'

/** The files below a folder that this process has open, removed ones under the names that they had; Linux only. */
export function listOpenFilesIn(directory: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`).replace(/ \(deleted\)$/, '')
      return path.startsWith(directory) ? [path] : []
    } catch {
      // Closed since it was listed.
      return []
    }
  })
}
