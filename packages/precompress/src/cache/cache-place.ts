import { join } from 'node:path'

/** The folder of the cache that holds its entries; what else stands beside it is not the cache's to remove. */
export function entriesFolder(directory: string): string {
  return join(directory, 'entries-1')
}

/** Where the entry of an original stands, in one of 256 folders. */
export function entryPath(directory: string, sha256: string): string {
  return join(entriesFolder(directory), sha256.slice(0, 2), sha256.slice(2))
}
