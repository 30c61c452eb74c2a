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

/** Makes all changes of a compression to the folder; see docs/decisions/001-write-protocol.md. */
export interface BuildWriter {
  /** Writes a variant into the staging folder. */
  readonly stage: (claim: VariantClaim, bytes: Uint8Array) => Promise<void>
  /** The staging folder, for other threads. */
  readonly area: StagingArea
  /** Accepts variants that other threads staged and flushed. */
  adopt(staged: readonly StagedVariant[]): void
  /** Moves all variants into the folder, then writes the manifest. */
  commit(manifest: Manifest): Promise<Changes>
  /** Removes the staged files. Restores the folder. */
  discard(): Promise<void>
}

/** Relative to the folder, sorted. */
interface Changes {
  readonly written: readonly string[]
  readonly removed: readonly string[]
}

export interface BuildWriterOptions {
  /** Whether files are flushed to the disk before other files refer to them. */
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

  // Remove files that a killed compression staged.
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
      // The cause is already known or not relevant any more.
      await stager.settle().catch(() => undefined)
      await closeStaging(area, disk)
      // Remove the state folder if this compression created it.
      await removeIfEmpty(join(folder, stateDirectory), disk)
    },
  }
}

/**
 * Marks a folder as unfinished before a build fills it. Creates the folder if it is missing.
 *
 * The server rejects the folder until the next compression succeeds. An existing manifest is removed, because it
 * describes old bytes. The next compression still knows its variants. Does nothing if the folder is already marked.
 *
 * @throws {@link OperatorError} if the folder is not writable.
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
 * Removes the variants of earlier compressions from a marked folder.
 *
 * Call it for builds that do not empty the folder. Otherwise other tools treat variants as files, and a service
 * worker's list would contain them.
 */
export async function removeVariants(directory: string): Promise<void> {
  const { variants } = await readEarlierBuild(directory, () => {})
  for (const path of variants.keys()) await removeIfThere(join(directory, path), realDisk)
}

/** Writes a journal with the known variants, then removes the manifest. */
async function withdraw(folder: string, { manifest, claims }: StateFiles): Promise<void> {
  const area = createStagingArea(folder, true)
  openStaging(area)
  await placeText(area, pendingPath, stringifyJournal({ replaces: manifest, variants: claims }), realDisk)
  await removeIfThere(join(folder, manifestPath), realDisk)
  await flushFolder(join(folder, stateDirectory))
  await closeStaging(area, realDisk)
}

/** Returns whether all files and variants of the earlier manifest have the same bytes in the next. */
function isStillTrue({ manifest, manifestText }: FolderState, next: Manifest): boolean {
  const digests = new Map([...next.files, ...claimsOf(next)].map(({ path, sha256 }) => [path, sha256]))
  return (
    manifestText !== undefined &&
    manifest !== undefined &&
    [...manifest.files, ...claimsOf(manifest)].every(({ path, sha256 }) => digests.get(path) === sha256)
  )
}

/** Writes a file atomically and durably. */
async function placeText(area: StagingArea, path: string, text: string, disk: Disk): Promise<void> {
  const aside = join(stagingFolder(area), randomUUID())
  // Do not create the folder: if another compression removed it, this one must fail.
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

/** Removes a folder if possible. A folder that is not empty stays. */
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
