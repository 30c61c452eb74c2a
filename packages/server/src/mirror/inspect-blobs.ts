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

/** Milliseconds of work between looks at the event loop: a server that reloads answers meanwhile. */
const longestSlice = 4

/**
 * Reads the bodies that are to be held, compared by digest, and keeps files open. What the cache lost or spoilt is
 * fetched again; streamed files are compared when they are first sent.
 *
 * @throws OperatorError where that is not to be had.
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

/** Bytes that are read from the cache for each answer; without a fingerprint, their digest decides. */
export function streamedFromCache(
  mirror: CachedBuilds,
  { sha256, size }: Pick<ExpectedFile, 'sha256' | 'size'>,
): StreamedBytes {
  const file = mirror.fileOf(sha256)
  const stored: StreamedBytes = { size, body: undefined, file, fingerprint: '', changeTime: '', sha256 }
  provideFile(stored, mirror)
  return stored
}

/** A crash of the machine leaves files that are too short; other bytes show when they are first sent. */
function hasSize({ file, size }: StreamedBytes): boolean {
  return statSync(file, { throwIfNoEntry: false })?.size === size
}

/** What cannot be opened now is fetched when it is asked for. */
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
    `${mirror.place}: lacks the bytes of ${path}; publish the build again`,
  )
}
