import type { DigestComparisons } from './compare-file.ts'
import type { StreamedBytes } from '../site/site.ts'

/** Has the files of a cache, which may lack some and lose others. */
export interface FileProvider {
  /** What is known of its files, for as long as it is there. */
  readonly comparisons: DigestComparisons
  /** Somebody begins to read a file: it is not the one to be given up next. */
  noteUse(stored: StreamedBytes): void
  /**
   * Puts a file in its place that is not there, or has other bytes.
   *
   * @throws StoredFileError where nobody has it (`lost`), or who has it cannot be reached (`away`).
   */
  fetchMissing(stored: StreamedBytes): Promise<void>
}

/** They stand beside the site, which is data, as its open files do. */
const providers = new WeakMap<StreamedBytes, FileProvider>()

/** From now on a file is brought when it is needed. */
export function provideFile(stored: StreamedBytes, provider: FileProvider): void {
  providers.set(stored, provider)
}

export function providerOf(stored: StreamedBytes): FileProvider | undefined {
  return providers.get(stored)
}
