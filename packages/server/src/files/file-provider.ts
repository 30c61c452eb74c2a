import type { DigestComparisons } from './compare-file.ts'
import type { StreamedBytes } from '../site/site.ts'

/** The owner of cached files. The cache may lack files and lose some later. */
export interface FileProvider {
  /** Digest comparisons of the cached files. */
  readonly comparisons: DigestComparisons
  /** Records that a file is read, which delays its eviction. */
  noteUse(stored: StreamedBytes): void
  /**
   * Replaces a file that is missing or has other bytes.
   *
   * @throws StoredFileError if the store lacks the file (`lost`) or is unreachable (`away`).
   */
  fetchMissing(stored: StreamedBytes): Promise<void>
}

/** Kept outside of the site, which is plain data. */
const providers = new WeakMap<StreamedBytes, FileProvider>()

/** Makes `provider` responsible for fetching a file when it is needed. */
export function provideFile(stored: StreamedBytes, provider: FileProvider): void {
  providers.set(stored, provider)
}

export function providerOf(stored: StreamedBytes): FileProvider | undefined {
  return providers.get(stored)
}
