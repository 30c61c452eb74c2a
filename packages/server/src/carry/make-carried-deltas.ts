import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '@serve-dist/foundation/files/replace-file'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import {
  carriedFolder,
  describeListedBuild,
  type Download,
  type ListedBuild,
  loadOptional,
  type Manifest,
  OperatorError,
} from '@serve-dist/manifest'
import type { DeltaProgress, DeltasSummary, NamedBlob } from '@serve-dist/store'

/** The deltas of the new build's files against earlier files. Their bytes are in the folder of carried files. */
export interface CarriedDeltas {
  /** The document that lists them, in the format of a store. Absent if this Node cannot make deltas. */
  readonly document?: string
  readonly summary: DeltasSummary
  /** The hashed files that visitors of the replaced build download. */
  readonly download?: Download
  readonly warnings: readonly string[]
}

/** The maximum size of an earlier file, as a multiple of the new file. Otherwise the site could exhaust the memory. */
const largestRatio = 4

/** The maximum size of a file and an earlier file in bytes. The encoder takes 32 times as much. */
const largestPair = 2 * 1024 * 1024
/** The same for a list with more than 20,000 parts (1,000 files), which takes up to 120 MB. */
const largestPairOfLargeList = 512 * 1024
const mostPartsOfSmallList = 20_000

const none = { isThere: false, made: 0, bytes: 0, reused: 0, tooLarge: 0, leftOut: 0, milliseconds: 0 }

export interface CarriedFiles {
  readonly root: string
  readonly manifest: Manifest
  /** The builds of the site, the newest first. */
  readonly builds: readonly ListedBuild[]
  /** The digests of the carried files. */
  readonly there: ReadonlySet<string>
  /** The number of objects, lists and fields of the site's list. */
  readonly parts: number
}

export interface CarriedDeltasOptions {
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly onDelta: (progress: DeltaProgress) => void
}

/**
 * Encodes deltas of the new build's files by the code of a store, and writes them next to the carried files.
 *
 * @throws OperatorError `SD_MANIFEST_MISMATCH` if a file does not match the manifest.
 */
export async function makeCarriedDeltas(
  { root, manifest, builds, there, parts }: CarriedFiles,
  options: CarriedDeltasOptions,
): Promise<CarriedDeltas> {
  const library = await loadOptional(
    { name: '@serve-dist/store', neededBy: 'serve-dist carry' },
    async () => await import('@serve-dist/store/deltas'),
  )
  const codings = library.availableDeltaCodings()
  if (codings.length === 0) return { summary: { ...none, codings }, warnings: [] }
  const began = performance.now()
  const earlier = builds
    .filter(({ id }) => id !== manifest.buildId)
    .slice(0, library.dictionaryGenerations)
    .map((build) => ({ manifest: describeListedBuild(build, manifest), deltas: undefined }))
  // A browser may have kept a file of an earlier build that the new build has as well.
  const own = new Map(
    manifest.files.filter(({ runtime }) => runtime !== true).map((file) => [file.sha256, file]),
  )
  const placeOf = ({ sha256, size }: NamedBlob): string | undefined => {
    const file = own.get(sha256)
    if (file !== undefined) return file.size === size ? join(root, file.path) : undefined
    return there.has(sha256) ? join(root, carriedFolder, sha256) : undefined
  }
  const { carried, pairs } = library.planDeltas(manifest, earlier, () => false)
  const mostBytes = parts > mostPartsOfSmallList ? largestPairOfLargeList : largestPair
  const usable = pairs.filter(
    ({ file, dictionary }) =>
      dictionary.size <= file.size * largestRatio &&
      file.size + dictionary.size <= mostBytes &&
      placeOf(dictionary) !== undefined,
  )
  const place = {
    readFile: async ({ path, sha256 }: Manifest['files'][number]) => {
      const bytes = await readVerified(join(root, path), sha256)
      if (bytes !== undefined) return bytes
      throw new OperatorError(
        'SD_MANIFEST_MISMATCH',
        `${join(root, path)}: does not match the manifest. Build again.`,
      )
    },
    readDictionary: async (blob: NamedBlob) => await readVerified(placeOf(blob) ?? '', blob.sha256),
    writeDelta: async ({ sha256 }: NamedBlob, delta: Uint8Array) =>
      await replaceFile(join(root, carriedFolder, sha256), delta),
  }
  const limits = { ...options, codings, endsAt: began + library.defaultDeltaBudget, processes: 1 }
  const { files, counts, warnings } = await library.encodeDeltas({ carried, pairs: usable }, place, limits)
  const milliseconds = Math.round(performance.now() - began)
  const replaced = earlier[0]?.manifest
  const had = new Set(replaced?.files.map(({ sha256 }) => sha256))
  const hashed = { ...manifest, files: manifest.files.filter(({ cache }) => cache === 'immutable') }
  return {
    document: library.stringifyDeltas({ version: 1, files }),
    summary: { ...none, ...counts, codings, milliseconds },
    download: library.computeDownload(hashed, { had, replaced, deltas: files }),
    warnings,
  }
}

/** Returns `undefined` for a missing file and for other bytes, whose delta would decode to the wrong bytes. */
async function readVerified(file: string, sha256: string): Promise<Uint8Array | undefined> {
  const bytes = await readFile(file).catch(() => undefined)
  return bytes !== undefined && sha256Of(bytes) === sha256 ? bytes : undefined
}
