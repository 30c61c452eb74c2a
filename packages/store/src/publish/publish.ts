import { isAbsolute, relative, resolve } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import type { StoreBackend } from '../backend.ts'
import { makeDeltas } from './make-deltas.ts'
import { requireConditionalWrites } from '../require-conditional-writes.ts'
import { readHead } from '../history/swap-history.ts'
import { isListed, listBlobs } from '../list-objects.ts'
import { observeStore } from '../observe-store.ts'
import { commitBuild } from './commit-build.ts'
import { findCorruptBlobs } from './find-corrupt-blobs.ts'
import { type PublishOptions, resolvePublishOptions } from './publish-options.ts'
import { type PublishSummary, summarize } from './publish-summary.ts'
import { readSourceBuild, type SourceBlob } from './read-source-build.ts'
import { sendBlobs } from './send-blobs.ts'

/**
 * Makes a build the current one of a store. Sends missing blobs, encodes deltas, writes the manifest, swaps the history
 * and deletes builds beyond the retention limits. If it fails before the swap, the previous build stays current. The
 * next publish does not resend uploaded blobs.
 *
 * @param directory - the folder of a finished build with a manifest.
 * @throws OperatorError `SD_OPTION_INVALID`; `SD_MANIFEST_MISSING`, `SD_BUILD_UNFINISHED` or `SD_MANIFEST_MISMATCH` if
 * the folder does not contain a complete build; `SD_STORE_CONFLICT` after a concurrent publish or rollback;
 * `SD_STORE_UNCONDITIONAL` if the endpoint does not support conditional writes; `SD_STORE_UNAVAILABLE`.
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

  // 1. Read the build, check the endpoint and list the store.
  const build = await readSourceBuild(directory)
  await requireConditionalWrites(observed, resolved)
  const start = await readHead(observed, resolved)
  const inventory = await listBlobs(observed, start.history, resolved)

  // 2. Send missing blobs.
  const sent: SourceBlob[] = build.blobs.filter((blob) => !isListed(inventory, blob))
  if (resolved.isVerified) {
    const there = build.blobs.filter((blob) => isListed(inventory, blob))
    sent.push(...(await findCorruptBlobs(observed, { blobs: there, inventory }, resolved)))
  }
  await sendBlobs(observed, { directory, blobs: sent, inventory }, resolved)

  // 3. Encode deltas against earlier builds.
  const deltas = await makeDeltas(observed, { build, inventory }, resolved)

  // 4. Write the manifest, swap the history and prune.
  const commit = await commitBuild(observed, { build, start, deltas }, resolved)
  return {
    ...summarize({ build, sent, deltas, commit }),
    isDryRun: resolved.isDryRun,
    requests: observed.requests,
    milliseconds: Math.round(performance.now() - began),
  }
}

/** Rejects a store inside the folder of the build, which the next build empties. */
function expectApart(directory: string, place: string): void {
  const path = relative(resolve(directory), place)
  if (!isAbsolute(place) || isAbsolute(path) || /^\.\.(?:$|[/\\])/.test(path)) return
  const problem = `${place}: the store is inside the folder of the build, ${directory}. The next build deletes it. Choose a folder elsewhere.`
  throw new OperatorError('SD_OPTION_INVALID', problem)
}
