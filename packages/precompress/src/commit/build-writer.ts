import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync } from 'node:fs'
import { rename, rm, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type Manifest,
  manifestPath,
  pendingPath,
  stateDirectory,
  stringifyManifest,
} from '@serve-dist/manifest'
import {
  createStager,
  createStagingArea,
  openStaging,
  type StagedVariant,
  stagingFolder,
  stagingPath,
  type StagingArea,
} from './create-stager.ts'
import { interimManifest } from './interim-manifest.ts'
import { isMissing } from '../folder/is-missing.ts'
import { stringifyJournal, type VariantClaim } from './journal.ts'
import { claimsOf, type EarlierBuild, readRecords, type Records } from './read-earlier-build.ts'
import { flushFolder, writeAside } from './write-aside.ts'
import { writeFailure } from './write-failure.ts'

/** Every change that a pass makes to the folder goes through here; see docs/decisions/001-write-protocol.md. */
export interface BuildWriter {
  /** Whether the variant stands in its place, from an earlier pass. */
  readonly isInPlace: (claim: VariantClaim) => boolean
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
}

export async function openBuildWriter(
  folder: string,
  earlier: EarlierBuild,
  { durable }: BuildWriterOptions,
): Promise<BuildWriter> {
  const allStaging = join(folder, stagingPath)
  const area = createStagingArea(folder, durable)
  const staging = stagingFolder(area)
  const stager = createStager(area, 'main')
  const adopted: StagedVariant[] = []
  const isInPlace = ({ path, sha256 }: VariantClaim): boolean => earlier.variants.get(path) === sha256

  const flushFolders = async (folders: Iterable<string>): Promise<void> => {
    if (!durable) return
    await Promise.all([...new Set(folders)].map(async (path) => await flushFolder(join(folder, path))))
  }

  /** Puts a text into its place at once, for good. */
  const place = async (path: string, text: string): Promise<void> => {
    const aside = join(staging, randomUUID())
    await writeAside(aside, Buffer.from(text), durable)
    await rename(aside, join(folder, path))
    await flushFolders([dirname(path)])
  }

  // Whatever a killed pass had staged.
  await rm(allStaging, { recursive: true, force: true })

  return {
    isInPlace,

    stage: stager.stage,

    area,

    adopt: (others) => {
      for (const variant of others) adopted.push(variant)
    },

    async commit(manifest) {
      await stager.settle()
      const staged = [...stager.staged, ...adopted]
      const text = stringifyManifest(manifest)
      const named = new Map(claimsOf(manifest).map(({ path, sha256 }) => [path, sha256]))
      const stale = [...earlier.variants.keys()].filter((path) => !named.has(path))
      const isNewManifest = text !== earlier.manifestText
      if (staged.length + stale.length === 0 && !isNewManifest && !earlier.isUnfinished) {
        return { written: [], removed: [] }
      }

      openStaging(area)
      // 1. The journal: from here on a pass that finds it knows every variant of ours.
      const ours = [...earlier.variants].map(([path, sha256]) => ({ path, sha256 }))
      const claims = [...ours, ...staged.map(claimOf)]
      const journal = stringifyJournal({ replaces: earlier.manifest, variants: claims })
      const placeJournal = async (): Promise<void> => await place(pendingPath, journal)
      // 2. The next build as far as it stands, unless the earlier one stays true until the next is whole.
      const placeInterim = async (): Promise<void> => {
        if (!isNewManifest || isStillTrue(earlier, manifest)) return
        await place(manifestPath, stringifyManifest(interimManifest(manifest, isInPlace)))
      }
      // A first pass has nothing to remember, and a journal without a manifest would not be served.
      const isFirst = earlier.manifestText === undefined && !earlier.isUnfinished
      for (const step of isFirst ? [placeInterim, placeJournal] : [placeJournal, placeInterim]) await step()
      // 3. The variants.
      for (const { aside, path } of staged) renameSync(aside, join(folder, path))
      await flushFolders(['', ...staged.map(({ path }) => dirname(path))])
      // 4. The manifest: the build is complete.
      if (isNewManifest) await place(manifestPath, text)
      // 5. What no manifest names any more.
      await Promise.all(stale.map(async (path) => await removeIfThere(join(folder, path))))
      await removeIfThere(join(folder, pendingPath))
      await rm(staging, { recursive: true, force: true })
      await removeIfEmpty(allStaging)

      const written = staged.map(({ path }) => path).toSorted()
      return { written: isNewManifest ? [...written, manifestPath] : written, removed: stale.toSorted() }
    },

    async discard() {
      // What it fails of is known already, or of no interest any more.
      await stager.settle().catch(() => undefined)
      await rm(staging, { recursive: true, force: true })
      await removeIfEmpty(allStaging)
      // A folder that had no state keeps none.
      await removeIfEmpty(join(folder, stateDirectory))
    },
  }
}

/**
 * Withdraws the manifest of a folder whose files are about to be overwritten: it would be about bytes that are
 * gone. What it names stays known to the next pass of `precompress`, and until then the folder is not served.
 * Does nothing in a folder without a manifest, or that is not there.
 */
export async function retireManifest(directory: string): Promise<void> {
  const records = await readRecords(directory, () => {})
  if (records.manifestText !== undefined) await withdraw(directory, records)
}

/**
 * Marks a folder that a build is about to fill, and makes it when it is not there: until the next pass of
 * `precompress` has come to its end, the folder is not served. Retires a manifest, and does nothing in a folder
 * that is marked already.
 *
 * @throws {@link PrecompressError} when the folder cannot be written to.
 */
export async function markUnfinished(directory: string): Promise<void> {
  const records = await readRecords(directory, () => {})
  if (records.manifestText === undefined && records.isUnfinished) return
  try {
    mkdirSync(directory, { recursive: true })
    await withdraw(directory, records)
  } catch (error) {
    throw writeFailure(directory, error)
  }
}

/** Places a journal of what is known, then removes the manifest. */
async function withdraw(directory: string, { manifest, claims }: Records): Promise<void> {
  const allStaging = join(directory, stagingPath)
  const area = createStagingArea(directory, true)
  const staging = stagingFolder(area)
  openStaging(area)
  const journal = join(staging, 'journal')
  const text = stringifyJournal({ replaces: manifest, variants: claims })
  await writeAside(journal, Buffer.from(text), true)
  await rename(journal, join(directory, pendingPath))
  await flushFolder(join(directory, stateDirectory))
  await removeIfThere(join(directory, manifestPath))
  await flushFolder(join(directory, stateDirectory))
  await rm(staging, { recursive: true, force: true })
  await removeIfEmpty(allStaging)
}

/** Whether a manifest stands, and everything that it names has the same bytes in the next. */
function isStillTrue({ manifest, manifestText }: EarlierBuild, next: Manifest): boolean {
  const digests = new Map([...next.files, ...claimsOf(next)].map(({ path, sha256 }) => [path, sha256]))
  return (
    manifestText !== undefined &&
    manifest !== undefined &&
    [...manifest.files, ...claimsOf(manifest)].every(({ path, sha256 }) => digests.get(path) === sha256)
  )
}

function claimOf({ path, sha256 }: StagedVariant): VariantClaim {
  return { path, sha256 }
}

/** What is left in it, or why it cannot be removed, is not this pass's to judge. */
async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).catch(() => undefined)
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
