import { fstatSync, openSync, statSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { OperatorError } from '@serve-dist/manifest'
import { provideFile } from '../files/file-provider.ts'
import type { ExpectedFile } from '../files/inspect-file.ts'
import type { Inspection } from '../files/inspect-files.ts'
import { keepFileOpen } from '../files/kept-file.ts'
import { closeDescriptor, linklessFlags } from '../files/open-regular-file.ts'
import { createBodyReader } from '../files/read-body.ts'
import type { ManifestEntry, StoredBytes, StreamedBytes } from '../site/site.ts'
import type { CachedBuilds } from './open-mirror.ts'

/** Milliseconds of work between turns of the event loop, so that a reloading server keeps answering. */
const longestSlice = 4

/**
 * Reads the bodies to hold, verified by digest, and keeps files open. It fetches missing and damaged files
 * again. Streamed files are verified when they are first sent.
 *
 * @throws OperatorError if a file is not available.
 */
export async function inspectBlobs(
  mirror: CachedBuilds,
  files: readonly ExpectedFile[],
  { streamed, kept }: Pick<Inspection, 'streamed' | 'kept'>,
): Promise<ReadonlyMap<ManifestEntry, StoredBytes>> {
  const found = new Map<ManifestEntry, StoredBytes>()
  const readBody = createBodyReader()
  let begun = performance.now()
  for (const expected of files) {
    if (streamed.has(expected)) {
      const stored = streamedFromCache(mirror, expected)
      if (!hasSize(stored)) await expectFetched(mirror, expected)
      if (kept.has(expected)) keepOpen(stored)
      found.set(expected.entry, stored)
    } else {
      const file = mirror.fileOf(expected.sha256)
      const read = async (): Promise<StoredBytes> => readBody(file, expected)
      const again = async (): Promise<StoredBytes> => {
        await expectFetched(mirror, expected)
        return await read()
      }
      found.set(expected.entry, await read().catch(again))
    }
    if (performance.now() - begun < longestSlice) continue
    await setImmediate()
    begun = performance.now()
  }
  return found
}

/** Describes a body that is streamed from the cache. Without a fingerprint, its digest is compared. */
export function streamedFromCache(
  mirror: CachedBuilds,
  { sha256, size }: Pick<ExpectedFile, 'sha256' | 'size'>,
): StreamedBytes {
  const file = mirror.fileOf(sha256)
  const stored: StreamedBytes = { size, body: undefined, file, fingerprint: '', changeTime: '', sha256 }
  provideFile(stored, mirror)
  return stored
}

/** A crash of the machine can truncate files. Other damage is found when the file is first sent. */
function hasSize({ file, size }: StreamedBytes): boolean {
  return statSync(file, { throwIfNoEntry: false })?.size === size
}

/** A file that cannot be opened now is fetched on demand. */
function keepOpen(stored: StreamedBytes): void {
  let descriptor: number
  try {
    descriptor = openSync(stored.file, linklessFlags)
  } catch {
    return
  }
  const close = (): void => void closeDescriptor(descriptor).catch(() => {})
  if (fstatSync(descriptor).isFile()) keepFileOpen(stored, descriptor, close)
  else close()
}

async function expectFetched(mirror: CachedBuilds, { path, ...blob }: ExpectedFile): Promise<void> {
  if ((await mirror.fetch(blob)) === 'fetched') return
  throw new OperatorError(
    'SD_STORE_INVALID',
    `${mirror.place}: the content of ${path} is missing. Publish the build again.`,
  )
}
