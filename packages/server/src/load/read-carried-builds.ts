import { join } from 'node:path'
import {
  shellWord,
  carriedFolder,
  carriedListPath,
  defaultRetention,
  describeListedBuild,
  isRetained,
  type ListedBuild,
  type Manifest,
  OperatorError,
  parseKeptList,
} from '@serve-dist/manifest'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import type { Verification } from '../files/inspect-file.ts'
import { inspectFiles } from '../files/inspect-files.ts'
import { readOptional } from '../files/read-optional.ts'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'
import type { KeptBySource } from './build-source.ts'

/**
 * Reads the files of earlier builds that `serve-dist carry` added to a folder. Their bytes stay on the disk.
 *
 * @returns `undefined` for a folder without carried files.
 * @throws OperatorError if the list is invalid, or if files are missing or changed.
 */
export async function readCarriedBuilds(
  { directory, root }: { readonly directory: string; readonly root: string },
  current: Manifest,
  verify: Verification,
): Promise<KeptBySource | undefined> {
  const file = join(root, carriedListPath)
  const text = await readOptional(file)
  if (text === undefined) return undefined
  const stored = new Map<ManifestEntry, StoredBytes>()
  const carried = readList(file, text).map((build) => ({
    manifest: describeListedBuild(build, current),
    superseded: build.superseded === undefined ? Date.now() : Date.parse(build.superseded),
    stored,
  }))
  const entries = carried.flatMap(({ manifest }) =>
    manifest.files.flatMap((each) => [each, ...each.variants]),
  )
  const expected = entries.map((entry) => ({
    path: entry.sha256,
    size: entry.size,
    sha256: entry.sha256,
    entry,
  }))
  const found = await inspectFiles(join(root, carriedFolder), expected, {
    verify,
    digests: new Map(),
    streamed: new Set(expected),
    kept: new Set(),
    cure: `serve-dist carry <url> ${shellWord(directory)}`,
  })
  for (const [entry, bytes] of found) stored.set(entry, bytes)
  return {
    identity: sha256Of(Buffer.from(text)),
    coldBytesOf: (entry) => stored.get(entry),
    builds(before) {
      const now = Date.now()
      const retained = before.filter(({ superseded }, index) =>
        isRetained(index, now - superseded, defaultRetention),
      )
      return [...retained, ...carried]
    },
  }
}

function readList(file: string, text: string): readonly ListedBuild[] {
  try {
    return parseKeptList(text).builds
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    const cure = 'Delete this file, or run serve-dist carry again.'
    throw new OperatorError(error.code, `${file}: ${error.message}. ${cure}`, { cause: error })
  }
}
