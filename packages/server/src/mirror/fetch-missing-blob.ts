import { setTimeout } from 'node:timers/promises'
import { OperatorError } from '@serve-dist/manifest'
import type { NamedBlob } from '@serve-dist/store'
import { StoredFileError } from '../files/stored-file.ts'
import type { StreamedBytes } from '../site/site.ts'

/** Milliseconds that an answer waits for the store. A later result is used for the next request. */
const longestWait = 30_000

/**
 * Fetches a blob into the cache for an answer.
 *
 * @throws StoredFileError if the store lacks the blob (`lost`) or is unreachable (`away`).
 */
export async function fetchMissingBlob(
  stored: StreamedBytes,
  fetch: (blob: NamedBlob) => Promise<'fetched' | 'missing'>,
  wait: number = longestWait,
): Promise<void> {
  const { sha256 = '', size } = stored
  const result = await within(wait, fetch({ sha256, size })).catch((cause: unknown) => {
    const isAway = cause instanceof OperatorError && cause.code === 'SD_STORE_UNAVAILABLE'
    throw new StoredFileError(stored, isAway ? 'away' : 'unreadable', { cause })
  })
  if (result === 'missing') throw new StoredFileError(stored, 'lost')
}

async function within<Result>(milliseconds: number, task: Promise<Result>): Promise<Result> {
  const done = new AbortController()
  const late = setTimeout(milliseconds, undefined, { signal: done.signal, ref: false }).then(() => {
    const problem = `it did not send the file within ${milliseconds / 1000} seconds`
    throw new OperatorError('SD_STORE_UNAVAILABLE', problem)
  })
  try {
    return await Promise.race([task, late])
  } finally {
    late.catch(() => {})
    done.abort()
  }
}
