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
import { chooseStreamedFiles, type MemoryLimits } from '../files/choose-streamed-files.ts'
import type { ExpectedFile, Verification } from '../files/inspect-file.ts'
import { inspectFiles } from '../files/inspect-files.ts'
import { readOptional } from '../files/read-optional.ts'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'
import type { KeptBySource } from './build-source.ts'
import { overhead } from './select-kept-builds.ts'

/**
 * Reads the files of earlier builds that `serve-dist carry` added to a folder. Like files of builds that were served
 * before, they are in memory as far as there is room. The next build may empty the folder.
 *
 * @returns `undefined` for a folder without carried files.
 * @throws OperatorError if the list is invalid, or if files are missing or changed.
 */
export async function readCarriedBuilds(
  { directory, root }: { readonly directory: string; readonly root: string },
  current: Manifest,
  { verify, ...limits }: MemoryLimits & { readonly verify: Verification },
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
  const expected = [
    // Several builds may have the same file.
    ...new Map(entries.map((entry) => [keyOf(entry), expectedFile(entry)])).values(),
  ]
  const memoryBudget = limits.memoryBudget - overhead * expected.length
  const found = await inspectFiles(join(root, carriedFolder), expected, {
    verify,
    digests: new Map(),
    streamed: new Set(chooseStreamedFiles(expected, { ...limits, memoryBudget })),
    kept: new Set(),
    cure: `serve-dist carry <url> ${shellWord(directory)}`,
  })
  const bytesOf = new Map([...found].map(([entry, bytes]) => [keyOf(entry), bytes]))
  for (const entry of entries) {
    const bytes = bytesOf.get(keyOf(entry))
    if (bytes !== undefined) stored.set(entry, bytes)
  }
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

function keyOf({ sha256, size }: ManifestEntry): string {
  return `${sha256} ${size}`
}

function expectedFile(entry: ManifestEntry): ExpectedFile {
  return { path: entry.sha256, size: entry.size, sha256: entry.sha256, entry }
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
