import { OperatorError } from '@serve-dist/manifest'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import type { StoreBackend, Stoppable } from './backend.ts'
import { type ChangeOptions, maximumAttempts, resolveChangeOptions } from './change-options.ts'
import { requireConditionalWrites } from './require-conditional-writes.ts'
import { findGeneration } from './find-generation.ts'
import { selectRowToRestore, withRestored } from './history/next-history.ts'
import { readHead, swapHistory } from './history/swap-history.ts'
import { blobsOf, blobsPrefix, type History, type HistoryRow } from './layout.ts'
import { isListed, listObjects } from './list-objects.ts'
import { observeStore } from './observe-store.ts'
import { isDocumentError, readGeneration } from './read-documents.ts'

/** Where a rollback goes. */
export interface RollbackOptions extends Pick<ChangeOptions, 'isDryRun' | 'isSinglePublisher' | 'signal'> {
  /**
   * The id of a build, or its first digits.
   *
   * @default the build that was current before the current one; after a rollback, one further back
   */
  readonly to?: string | undefined
}

/** What a rollback did, or would do. */
export interface RollbackSummary {
  /** Of the build that is current now. */
  readonly id: string
  /** When it was published first, or last, before. */
  readonly published: string
  /** The build that was current; absent where it is the same, and nothing was changed. */
  readonly replaced?: string
  readonly isDryRun: boolean
  readonly requests: number
}

/**
 * Makes an earlier build current again, pages too, and sends nothing: first it looks whether all bytes of it are there.
 *
 * @throws OperatorError `SD_GENERATION_MISSING` where there is no such build, or none further back; `SD_STORE_INVALID` where
 * bytes of it are missing; `SD_STORE_CONFLICT` where another publish or rollback came between; `SD_STORE_UNCONDITIONAL` where the
 * endpoint could not tell that; `SD_STORE_UNAVAILABLE`.
 */
export async function rollback(store: StoreBackend, options: RollbackOptions = {}): Promise<RollbackSummary> {
  const resolved = resolveChangeOptions(options)
  const observed = observeStore(store)
  let current: HistoryRow | undefined
  await requireConditionalWrites(observed, resolved)
  for (let tries = 1; tries <= maximumAttempts; tries += 1) {
    resolved.signal?.throwIfAborted()
    const head = await readHead(observed, resolved)
    const [found] = head.history.history
    if (current !== undefined && found?.number !== current.number) break
    current = found
    const row = expectRow(head.history, options.to, store.place)
    const { id, published } = row
    const summary = { id, published, isDryRun: resolved.isDryRun }
    if (id === current?.id) return { ...summary, requests: observed.requests }
    try {
      await expectWhole(observed, id, resolved)
    } catch (error) {
      // A publish that came between may have let it go.
      if (isDocumentError(error) && (await readHead(observed, resolved)).version !== head.version) continue
      throw error
    }
    const done = { ...summary, ...(current && { replaced: current.id }) }
    if (resolved.isDryRun) return { ...done, requests: observed.requests }
    // A deletion that is under way spares what this history names: it may go on, and is left in the history.
    const next = withRestored(head.history, row, observed.now())
    if ((await swapHistory(observed, head, next, resolved)) !== undefined) {
      return { ...done, requests: observed.requests }
    }
  }
  throw new OperatorError(
    'SD_STORE_CONFLICT',
    `${store.place}: another publish or rollback came between; look at the generations, then roll back again`,
  )
}

function expectRow(history: History, to: string | undefined, place: string): HistoryRow {
  const ids = history.history.map(({ id }) => id)
  const row = selectRowToRestore(history, to === undefined ? undefined : findGeneration(ids, to, place))
  if (row !== undefined) return row
  const problem =
    ids.length === 0
      ? 'nothing was published yet, so there is nothing to roll back'
      : `no build is kept from before ${ids[0]}; name one, or publish`
  throw new OperatorError('SD_GENERATION_MISSING', `${place}: ${problem}`)
}

/** @throws OperatorError if the build cannot be served. */
async function expectWhole(store: StoreBackend, id: string, { signal }: Stoppable): Promise<void> {
  const blobs = blobsOf(await readGeneration(store, id, { signal }))
  const listed = await listObjects(store, blobsPrefix, { signal })
  const missing = blobs.filter((blob) => !isListed(listed, blob))
  if (missing.length === 0) return
  const what = `${pluralize(missing.length, 'blob')} of build ${id} ${missing.length === 1 ? 'is' : 'are'} missing or cut`
  const problem = `${store.place}: ${what}, so it cannot be served; publish it again, or roll back to another`
  throw new OperatorError('SD_STORE_INVALID', problem)
}
