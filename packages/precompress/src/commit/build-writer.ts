import { randomUUID } from 'node:crypto'
import { fdatasync, closeSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import {
  type Manifest,
  manifestPath,
  pendingPath,
  stateDirectory,
  stringifyManifest,
} from '@serve-dist/manifest'
import { flushFolder } from '@serve-dist/foundation/files/flush-folder'
import { type Disk, disk as realDisk } from '../folder/disk.ts'
import { interimManifest } from './build-manifest.ts'
import {
  createStager,
  createStagingArea,
  openStaging,
  type StagedVariant,
  stagingFolder,
  stagingPath,
  type StagingArea,
  toWriteError,
} from './create-stager.ts'
import {
  claimsOf,
  type FolderState,
  readEarlierBuild,
  readStateFiles,
  type StateFiles,
  stringifyJournal,
  type VariantClaim,
} from './read-earlier-build.ts'

/** Every change that a pass makes to the folder goes through here; see docs/decisions/001-write-protocol.md. */
export interface BuildWriter {
  /** Writes a variant aside. */
  readonly stage: (claim: VariantClaim, bytes: Uint8Array) => Promise<void>
  /** Where others write aside. */
  readonly area: StagingArea
  /** Takes over what others wrote aside, and flushed. */
  adopt(staged: readonly StagedVariant[]): void
  /** Moves everything into place, the manifest last. */
  commit(manifest: Manifest): Promise<Changes>
  /** Takes back what was staged; the folder is as it was found. */
  discard(): Promise<void>
}

/** Relative to the folder, sorted. */
interface Changes {
  readonly written: readonly string[]
  readonly removed: readonly string[]
}

export interface BuildWriterOptions {
  /** Whether everything is flushed to the disk before something else relies on it. */
  readonly durable: boolean
  readonly disk: Disk
}

export async function openBuildWriter(
  folder: string,
  earlier: FolderState,
  { durable, disk }: BuildWriterOptions,
): Promise<BuildWriter> {
  const area = createStagingArea(folder, durable)
  const stager = createStager(area, 'main', disk)
  const adopted: StagedVariant[] = []
  const isInPlace = ({ path, sha256 }: VariantClaim): boolean => earlier.variants.get(path)?.sha256 === sha256
  const place = async (path: string, text: string): Promise<void> => await placeText(area, path, text, disk)

  const failOfWriting = (error: unknown): never => {
    throw toWriteError(folder, error)
  }

  // Whatever a killed pass had staged.
  await disk.rm(join(folder, stagingPath), { recursive: true, force: true }).catch(failOfWriting)

  const commit = async (manifest: Manifest): Promise<Changes> => {
    await stager.settle()
    const staged = [...stager.staged, ...adopted]
    const text = stringifyManifest(manifest)
    const named = new Set(claimsOf(manifest).map(({ path }) => path))
    const stale = [...earlier.variants.keys()].filter((path) => !named.has(path))
    const isNewManifest = text !== earlier.manifestText
    if (staged.length + stale.length === 0 && !isNewManifest && !earlier.isUnfinished) {
      return { written: [], removed: [] }
    }

    openStaging(area)
    // 1. Write the journal. If this step is killed, the next one reads from it which variants are ours.
    const ours = [...earlier.variants].map(([path, { sha256 }]) => ({ path, sha256 }))
    const claims = [...ours, ...staged.map(({ path, sha256 }) => ({ path, sha256 }))]
    const journal = stringifyJournal({ replaces: earlier.manifest, variants: claims })
    const placeJournal = async (): Promise<void> => await place(pendingPath, journal)
    // 2. Write an interim manifest with the variants in place, unless the earlier manifest stays true until the commit.
    const placeInterim = async (): Promise<void> => {
      if (!isNewManifest || isStillTrue(earlier, manifest)) return
      await place(manifestPath, stringifyManifest(interimManifest(manifest, isInPlace)))
    }
    // The server refuses a journal without a manifest, and a first step has no variants to remember.
    const isFirst = earlier.manifestText === undefined && !earlier.isUnfinished
    for (const step of isFirst ? [placeInterim, placeJournal] : [placeJournal, placeInterim]) await step()
    // 3. Move the variants into place.
    for (const { aside, path } of staged) disk.rename(aside, join(folder, path))
    const folders = new Set(['', ...staged.map(({ path }) => dirname(path))])
    if (durable) await Promise.all([...folders].map(async (path) => await flushFolder(join(folder, path))))
    // 4. Write the manifest: it completes the build.
    if (isNewManifest) await place(manifestPath, text)
    // 5. Remove the variants that the manifest does not name.
    await Promise.all(stale.map(async (path) => await removeIfThere(join(folder, path), disk)))
    await removeIfThere(join(folder, pendingPath), disk)
    await closeStaging(area, disk)

    const written = staged.map(({ path }) => path).toSorted()
    return { written: isNewManifest ? [...written, manifestPath] : written, removed: stale.toSorted() }
  }

  return {
    stage: stager.stage,

    area,

    adopt: (others) => {
      for (const variant of others) adopted.push(variant)
    },

    commit: async (manifest) => await commit(manifest).catch(failOfWriting),

    async discard() {
      // Why it fails is known already, or of no interest any more.
      await stager.settle().catch(() => undefined)
      await closeStaging(area, disk)
      // A folder that had no state keeps none.
      await removeIfEmpty(join(folder, stateDirectory), disk)
    },
  }
}

/**
 * Marks a folder that a build is about to fill, and makes it when it is not there: until the next pass of
 * `precompress` has come to its end, the folder is not served. Withdraws a manifest, which would be about bytes that
 * are gone; what it names stays known to that pass. Does nothing in a folder that is marked already.
 *
 * @throws {@link OperatorError} when the folder cannot be written to.
 */
export async function markUnfinished(directory: string): Promise<void> {
  const state = await readStateFiles(directory)
  if (state.manifestText === undefined && state.isUnfinished) return
  try {
    mkdirSync(directory, { recursive: true })
    await withdraw(directory, state)
  } catch (error) {
    throw toWriteError(directory, error)
  }
}

/**
 * Removes the variants of earlier passes from a folder that is marked, and that a build fills without emptying it:
 * other tools would take them for files, and the list of a service worker would name what nobody is sent.
 */
export async function removeVariants(directory: string): Promise<void> {
  const { variants } = await readEarlierBuild(directory, () => {})
  for (const path of variants.keys()) await removeIfThere(join(directory, path), realDisk)
}

/** Places a journal of what is known, then removes the manifest. */
async function withdraw(folder: string, { manifest, claims }: StateFiles): Promise<void> {
  const area = createStagingArea(folder, true)
  openStaging(area)
  await placeText(area, pendingPath, stringifyJournal({ replaces: manifest, variants: claims }), realDisk)
  await removeIfThere(join(folder, manifestPath), realDisk)
  await flushFolder(join(folder, stateDirectory))
  await closeStaging(area, realDisk)
}

/** Whether a manifest stands, and everything that it names has the same bytes in the next. */
function isStillTrue({ manifest, manifestText }: FolderState, next: Manifest): boolean {
  const digests = new Map([...next.files, ...claimsOf(next)].map(({ path, sha256 }) => [path, sha256]))
  return (
    manifestText !== undefined &&
    manifest !== undefined &&
    [...manifest.files, ...claimsOf(manifest)].every(({ path, sha256 }) => digests.get(path) === sha256)
  )
}

/** Puts a text into its place at once, for good. */
async function placeText(area: StagingArea, path: string, text: string, disk: Disk): Promise<void> {
  const aside = join(stagingFolder(area), randomUUID())
  // Where a second pass removed the staging folder, this one must fail.
  const descriptor = disk.writeNew(aside, Buffer.from(text), () => {})
  try {
    if (area.durable) await flush(descriptor)
  } finally {
    closeSync(descriptor)
  }
  disk.rename(aside, join(area.folder, path))
  if (area.durable) await flushFolder(join(area.folder, dirname(path)))
}

const flush = promisify(fdatasync)

async function closeStaging(area: StagingArea, disk: Disk): Promise<void> {
  await disk.rm(stagingFolder(area), { recursive: true, force: true })
  await removeIfEmpty(join(area.folder, stagingPath), disk)
}

/** A folder that holds anything, or cannot be removed, stays. */
async function removeIfEmpty(path: string, disk: Disk): Promise<void> {
  await disk.rmdir(path).catch(() => undefined)
}

async function removeIfThere(path: string, disk: Disk): Promise<void> {
  try {
    await disk.unlink(path)
  } catch (error) {
    if (!isNotFoundError(error)) throw error
  }
}
