import { isAbsolute, relative, resolve } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import type { StoreBackend } from '../backend.ts'
import { makeDeltas } from './make-deltas.ts'
import { requireConditionalWrites } from '../require-conditional-writes.ts'
import { readHead } from '../history/swap-history.ts'
import { blobsPrefix } from '../layout.ts'
import { isListed, listObjects } from '../list-objects.ts'
import { observeStore } from '../observe-store.ts'
import { commitBuild } from './commit-build.ts'
import { findCorruptBlobs } from './find-corrupt-blobs.ts'
import { type PublishOptions, resolvePublishOptions } from './publish-options.ts'
import { type PublishSummary, summarize } from './publish-summary.ts'
import { readSourceBuild, type SourceBlob } from './read-source-build.ts'
import { sendBlobs } from './send-blobs.ts'

/**
 * Makes a build the current one of a store: sends the blobs that are not there, makes deltas, writes its generation, then swaps the
 * history, and then deletes what retention lets go. Whatever ends it before the swap, the build that was current still is;
 * and what was sent by then, the next publish need not send.
 *
 * @param directory - of a build that is finished and has its manifest.
 * @throws OperatorError `SD_OPTION_INVALID`; `SD_MANIFEST_MISSING`, `SD_BUILD_UNFINISHED` or `SD_MANIFEST_MISMATCH` for a folder that is no whole
 * build; `SD_STORE_CONFLICT` where another publish or rollback came between; `SD_STORE_UNCONDITIONAL` where the endpoint
 * could not tell that; `SD_STORE_UNAVAILABLE`.
 */
export async function publish(
  directory: string,
  store: StoreBackend,
  options: PublishOptions = {},
): Promise<PublishSummary> {
  const began = performance.now()
  const resolved = resolvePublishOptions(options)
  const observed = observeStore(store)
  expectApart(directory, store.place)

  // 1. The build, the endpoint, and what is there.
  const build = await readSourceBuild(directory)
  await requireConditionalWrites(observed, resolved)
  const start = await readHead(observed, resolved)
  const listed = await listObjects(observed, blobsPrefix, resolved)

  // 2. The blobs that are not.
  const sent: SourceBlob[] = build.blobs.filter((blob) => !isListed(listed, blob))
  if (resolved.isVerified) {
    const there = build.blobs.filter((blob) => isListed(listed, blob))
    sent.push(...(await findCorruptBlobs(observed, there, resolved)))
  }
  await sendBlobs(observed, { directory, blobs: sent }, resolved)

  // 3. What changed, as to who has an earlier build.
  const deltas = await makeDeltas(observed, { build, history: start.history, listed }, resolved)

  // 4. The generation, the history, and what retention lets go.
  const commit = await commitBuild(observed, { build, start, deltas }, resolved)
  return {
    ...summarize({ build, sent, deltas, commit }),
    isDryRun: resolved.isDryRun,
    requests: observed.requests,
    milliseconds: Math.round(performance.now() - began),
  }
}

/** What lies in the folder of a build goes with the next build. */
function expectApart(directory: string, place: string): void {
  const path = relative(resolve(directory), place)
  if (!isAbsolute(place) || isAbsolute(path) || /^\.\.(?:$|[/\\])/.test(path)) return
  const problem = `${place}: the store lies in the folder of the build, ${directory}, which the next build empties; put it somewhere else`
  throw new OperatorError('SD_OPTION_INVALID', problem)
}
