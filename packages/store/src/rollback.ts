import { OperatorError } from '@serve-dist/manifest'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { shortId } from '@serve-dist/foundation/text/short-id'
import type { StoreBackend, Stoppable } from './backend.ts'
import { type ChangeOptions, maximumAttempts, resolveChangeOptions } from './change-options.ts'
import { requireConditionalWrites } from './require-conditional-writes.ts'
import { findGeneration } from './find-generation.ts'
import { publishedOf, selectRowToRestore, withRestored } from './history/next-history.ts'
import { readHead, swapHistory } from './history/swap-history.ts'
import { blobsOf, type History, type HistoryRow } from './layout.ts'
import { isListed, listBlobs } from './list-objects.ts'
import { observeStore } from './observe-store.ts'
import { isDocumentError, readGeneration } from './read-documents.ts'

/** Options of a rollback. */
export interface RollbackOptions extends Pick<
  ChangeOptions,
  'isDryRun' | 'isSinglePublisher' | 'lookFor' | 'signal'
> {
  /**
   * The id of a build or a prefix of it.
   *
   * @default the build that was current before the current one; after a rollback, the one before that
   */
  readonly to?: string | undefined
}

/** The result of a rollback. For a dry run, the expected result. */
export interface RollbackSummary {
  /** The id of the build that is current now. */
  readonly id: string
  /** The time of the publish that this rollback restores: ISO 8601, UTC. */
  readonly published: string
  /** The id of the previous current build. Absent if nothing changed. */
  readonly replaced?: string
  readonly isDryRun: boolean
  readonly requests: number
}

/**
 * Makes an earlier build current again, including its pages. Sends no files, but checks first that the store has all of
 * them.
 *
 * @throws OperatorError `SD_GENERATION_MISSING` if the store does not have the build, or no earlier one;
 * `SD_STORE_INVALID` if files of the build are missing; `SD_STORE_CONFLICT` after a concurrent publish or rollback;
 * `SD_STORE_UNCONDITIONAL` if the endpoint does not support conditional writes; `SD_STORE_UNAVAILABLE`.
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
    const { id } = row
    const summary = { id, published: publishedOf(head.history, row), isDryRun: resolved.isDryRun }
    if (id === current?.id) return { ...summary, requests: observed.requests }
    try {
      await expectWhole(observed, { id, history: head.history }, resolved)
    } catch (error) {
      // A concurrent prune may have deleted the build.
      if (isDocumentError(error) && (await readHead(observed, resolved)).version !== head.version) continue
      throw error
    }
    const done = { ...summary, ...(current && { replaced: current.id }) }
    if (resolved.isDryRun) return { ...done, requests: observed.requests }
    // No deletion concerns the objects that this history refers to.
    const next = withRestored(head.history, row, observed.now())
    if ((await swapHistory(observed, head, next, resolved)) !== undefined) {
      return { ...done, requests: observed.requests }
    }
  }
  throw new OperatorError(
    'SD_STORE_CONFLICT',
    `${store.place}: another job published or rolled back at the same time. List the builds, then roll back again.`,
  )
}

function expectRow(history: History, to: string | undefined, place: string): HistoryRow {
  const ids = history.history.map(({ id }) => id)
  const row = selectRowToRestore(history, to === undefined ? undefined : findGeneration(ids, to, place))
  if (row !== undefined) return row
  const [current] = ids
  const fix = ids.some((id) => id !== current)
    ? 'Choose a later build that serve-dist generations lists: serve-dist rollback <id>. Or publish'
    : 'Publish'
  const problem =
    current === undefined
      ? 'nothing was published yet. Publish a build first.'
      : `no build from before ${shortId(current)} is left. ${fix} the build that you need.`
  throw new OperatorError('SD_GENERATION_MISSING', `${place}: ${problem}`)
}

async function expectWhole(
  store: StoreBackend,
  { id, history }: { readonly id: string; readonly history: History },
  { signal }: Stoppable,
): Promise<void> {
  const blobs = blobsOf(await readGeneration(store, id, { history, signal }))
  const listed = await listBlobs(store, history, { signal })
  const missing = blobs.filter((blob) => !isListed(listed, blob))
  if (missing.length === 0) return
  const what = pluralize(missing.length, 'blob is', 'blobs are')
  const problem = `${store.place}: ${what} missing or truncated, so build ${shortId(id)} cannot be served. Publish it again, or roll back to another build.`
  throw new OperatorError('SD_STORE_INVALID', problem)
}
