import { existsSync, writeFileSync } from 'node:fs'
import { lstat, readdir, rm, rmdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { makeFolder } from '@serve-dist/foundation/files/make-folder'
import { replaceFile } from '@serve-dist/foundation/files/replace-file'
import { whileLocked } from '@serve-dist/foundation/files/while-locked'
import {
  carriedDeltasPath,
  carriedFolder,
  carriedListPath,
  countListParts,
  type KeptList,
  keptListPath,
  largestKeptList,
  type ListedBuild,
  OperatorError,
  parseKeptList,
  stateDirectory,
} from '@serve-dist/manifest'
import { readBuildManifest } from '@serve-dist/manifest/read-build-manifest'
import type { DeltaProgress, Retention } from '@serve-dist/store'
import { digestFile } from '../files/digest-file.ts'
import { closeDescriptor, openRegularFile } from '../files/open-regular-file.ts'
import { readOptional } from '../files/read-optional.ts'
import { encodePath } from '../protocol/request-path.ts'
import { decodeFile, largestDecoded } from './decode-file.ts'
import { type CarriedDeltas, type CarriedFiles, makeCarriedDeltas } from './make-carried-deltas.ts'
import { openSite, placeOf, type WantedBlob } from './open-site.ts'
import { selectBuilds } from './select-builds.ts'
import { siteInvalid, siteUnavailable } from './site-errors.ts'
import { writeReplacement } from './write-replacement.ts'

export interface CarryOptions {
  readonly address: URL
  /** Headers of every request. */
  readonly fields: Readonly<Record<string, string>>
  readonly retention: Partial<Retention>
  readonly signal: AbortSignal
  readonly onProgress: (progress: CarryProgress) => void
  /** Whether to make deltas of the new build's files, if this Node can. */
  readonly makesDeltas: boolean
  readonly onDelta: (progress: DeltaProgress) => void
  readonly onWarning: (message: string) => void
}

interface CarryProgress {
  readonly files: number
  readonly totalFiles: number
  readonly bytes: number
  readonly totalBytes: number
}

/** The files of earlier builds in the folder. */
export interface CarrySummary {
  readonly builds: number
  /** The number of files without variants. */
  readonly files: number
  /** The bytes of files and variants. */
  readonly bytes: number
  /** The bytes that were downloaded. */
  readonly downloadedBytes: number
  /** Whether the site serves this build, and no earlier ones. */
  readonly isSameBuild: boolean
  /** Absent if deltas are disabled. */
  readonly deltas: CarriedDeltas | undefined
}

/** The number of parallel requests. A higher number could overload the site. */
const concurrency = 8
/** The names of our files, also of unfinished downloads. */
const blobName = /^[0-9a-f]{64}(?:\.|$)/
/** The maximum number of parts of a list for deltas: 5,000 files. A larger list and an encoder take more than 300 MB. */
const mostPartsForDeltas = 100_000
/** The time limit of a carry in milliseconds. A slow site would otherwise block a pipeline for days. */
const longest = 30 * 60_000

/**
 * Adds the hashed files of a running site to a new build. If it fails, the folder keeps the earlier list. Verified files
 * stay for the next attempt, except after `SD_SITE_INVALID`.
 *
 * @returns `undefined` if the site has no list.
 * @throws OperatorError
 */
export async function carry(directory: string, options: CarryOptions): Promise<CarrySummary | undefined> {
  const root = resolve(directory)
  const { signal, onWarning: warn } = options
  const work = async (): Promise<CarrySummary | undefined> => await carryAlone(directory, options)
  // A missing folder has no lock.
  return existsSync(root) ? await whileLocked(root, { signal, warn }, work) : await work()
}

async function carryAlone(
  directory: string,
  {
    address,
    fields,
    retention,
    signal: given,
    onProgress,
    makesDeltas,
    onDelta,
    onWarning: warn,
  }: CarryOptions,
): Promise<CarrySummary | undefined> {
  const root = resolve(directory)
  const folder = join(root, carriedFolder)
  const [listFile, deltasFile] = [join(root, carriedListPath), join(root, carriedDeltasPath)]
  const limit = AbortSignal.timeout(longest)
  const signal = AbortSignal.any([given, limit])
  const site = openSite({ address, fields, concurrency, signal })
  const makeDeltas = async (files: Omit<CarriedFiles, 'root'>): Promise<CarriedDeltas | undefined> =>
    makesDeltas ? await makeCarriedDeltas({ root, ...files }, { concurrency, signal, onDelta }) : undefined
  try {
    // 1. Read the manifest and the list of the site.
    const manifest = await readBuildManifest(directory)
    const mount = address.pathname === '/' ? encodePath(manifest.base) : address.pathname.replace(/\/?$/, '/')
    const text = await site.readDocument(mount + keptListPath)
    if (text === undefined) {
      // Even the first build needs a document, because the next build makes deltas against its files.
      const { document } = (await makeDeltas({ manifest, builds: [], there: new Set(), parts: 0 })) ?? {}
      const isMissing = (await readOptional(deltasFile)) === undefined
      if (document !== undefined && isMissing) await replaceFile(deltasFile, document)
      return undefined
    }

    // 2. Select the builds.
    const list = parseListOf(address, text)
    const builds = await selectBuilds(list, manifest, { retention, now: Date.now() })
    const wanted = wantedBlobs(builds)
    const blobs = [...wanted.variants, ...wanted.files]

    // 3. Download missing files.
    await makeFolder(folder)
    await refuseLinks(root)
    const found = new Set(await readdir(folder))
    const there = new Set<string>()
    const done = { files: 0, bytes: 0 }
    const all = { totalFiles: blobs.length, totalBytes: sumOf(blobs) }
    let downloadedBytes = 0
    const add = async (blob: ListedBlob): Promise<void> => {
      signal.throwIfAborted()
      const { name, gzip, size, sha256 } = blob
      const file = join(folder, sha256)
      if (found.has(sha256) && (await isIntact(file, blob))) there.add(sha256)
      else if (gzip !== undefined && there.has(gzip)) {
        const bytes = await decodeFile({
          place: placeOf(address, mount + name),
          variant: join(folder, gzip),
          size,
          sha256,
        })
        await writeReplacement(file, (descriptor) => writeFileSync(descriptor, bytes))
        there.add(sha256)
      } else {
        if (await site.download({ ...blob, path: mount + encodePath(name) }, file)) there.add(sha256)
        downloadedBytes += size
      }
      done.files += 1
      done.bytes += size
      onProgress({ ...done, ...all })
    }
    await forEachConcurrently(wanted.variants, concurrency, add)
    await forEachConcurrently(wanted.files, concurrency, add)

    const carried = { version: 1, builds: builds.map((build) => withOnly(build, there)) } as const
    const listText = JSON.stringify(carried)
    // Times of builds make it larger than the list of the site.
    if (Buffer.byteLength(listText) > largestKeptList)
      throw siteInvalid(`${address.href}: its list of hashed files is too large.`)
    parseListOf(address, listText)

    // 4. Make deltas.
    const parts = countListParts(text)
    const hasDeltas = parts <= mostPartsForDeltas
    const deltas = hasDeltas ? await makeDeltas({ manifest, builds: list.builds, there, parts }) : undefined
    if (makesDeltas && !hasDeltas) warn('no deltas: the list of the site has more than 5,000 files.')

    // 5. Write the lists, and delete other files.
    await refuseLinks(root)
    if (deltas?.document === undefined) await rm(deltasFile, { force: true })
    else await replaceFile(deltasFile, deltas.document)
    await replaceFile(listFile, `${listText}\n`)
    await deleteUnlisted(folder, [listText, deltas?.document])
    return {
      builds: builds.length,
      files: builds.reduce((sum, { files }) => sum + files.length, 0),
      bytes: sumOf(blobs.filter(({ sha256 }) => there.has(sha256))),
      downloadedBytes,
      isSameBuild: list.builds.length > 0 && list.builds.every(({ id }) => id === manifest.buildId),
      deltas,
    }
  } catch (error) {
    if (limit.aborted)
      throw siteUnavailable(
        `${address.origin}: the site took more than half an hour. Run the command again to continue.`,
        error,
      )
    if (!(error instanceof OperatorError)) throw writeFailed(root, error)
    if (error.code === 'SD_SITE_INVALID') {
      const earlier = [await readEarlierList(listFile), await readEarlierList(deltasFile)]
      await refuseLinks(root)
        .then(async () => await deleteUnlisted(folder, earlier))
        .catch(() => {})
    }
    throw error
  } finally {
    site.close()
  }
}

function parseListOf(address: URL, text: string): KeptList {
  try {
    return parseKeptList(text)
  } catch (error) {
    const reason = reasonOf(error).replaceAll(/\s+/g, ' ').slice(0, 300)
    throw siteInvalid(`${address.href}: its list of hashed files is invalid: ${reason}.`)
  }
}

/** A file or a variant of a list. Its path is encoded at its download, because many encoded paths take much memory. */
interface ListedBlob extends Omit<WantedBlob, 'path'> {
  readonly name: string
  /** The digest of the variant to decode this file from. */
  readonly gzip?: string | undefined
}

interface WantedBlobs {
  readonly files: readonly ListedBlob[]
  readonly variants: readonly ListedBlob[]
}

/** Returns each digest once. A digest of both is that of a file, which a CDN cannot omit. */
function wantedBlobs(builds: readonly ListedBuild[]): WantedBlobs {
  const files = new Map<string, ListedBlob>()
  const variants = new Map<string, ListedBlob>()
  const listed = builds.flatMap((build) => build.files)
  for (const { path: name, size, sha256, variants: encoded } of listed) {
    const isSmall = size <= largestDecoded
    const gzip = encoded.find((variant) => isSmall && variant.coding === 'gzip' && variant.size < size)
    if (!files.has(sha256)) files.set(sha256, { name, coding: 'identity', size, sha256, gzip: gzip?.sha256 })
  }
  for (const { path: name, variants: encoded } of listed)
    for (const variant of encoded)
      if (!files.has(variant.sha256) && !variants.has(variant.sha256))
        variants.set(variant.sha256, { name, ...variant })
  return { files: [...files.values()], variants: [...variants.values()] }
}

/** Carried files replace and delete others in their folder, so it must not be elsewhere. */
async function refuseLinks(root: string): Promise<void> {
  for (const folder of [join(root, stateDirectory), join(root, carriedFolder)]) {
    if (!(await lstat(folder)).isSymbolicLink()) continue
    throw new OperatorError('SD_WRITE_FAILED', `${folder}: the folder is a symbolic link. Delete it.`)
  }
}

async function isIntact(file: string, { size, sha256 }: ListedBlob): Promise<boolean> {
  const opened = await openRegularFile(file).catch(() => undefined)
  if (opened === undefined) return false
  const { descriptor, stats } = opened
  try {
    return stats.size === BigInt(size) && (await digestFile(descriptor, size)) === sha256
  } finally {
    await closeDescriptor(descriptor)
  }
}

/** Removes the variants that the site did not send. */
function withOnly(build: ListedBuild, there: ReadonlySet<string>): ListedBuild {
  const files = build.files.map((file) => ({
    ...file,
    variants: file.variants.filter(({ sha256 }) => there.has(sha256)),
  }))
  return { ...build, files }
}

/** An unreadable list is of no use to a server, so it counts as empty. */
async function readEarlierList(file: string): Promise<string | undefined> {
  return await readOptional(file).catch(() => undefined)
}

/** Deletes the files with the names of digests that are in none of the lists. */
async function deleteUnlisted(folder: string, lists: readonly (string | undefined)[]): Promise<void> {
  const listed = new Set(lists.flatMap((text) => text?.match(/(?<=")[0-9a-f]{64}(?=")/g) ?? []))
  const found = await readdir(folder).catch(() => [])
  for (const name of found)
    if (blobName.test(name) && !listed.has(name)) await rm(join(folder, name), { recursive: true })
  if (listed.size === 0) await rmdir(folder).catch(() => {})
}

function sumOf(blobs: readonly ListedBlob[]): number {
  return blobs.reduce((sum, { size }) => sum + size, 0)
}

function writeFailed(root: string, cause: unknown): unknown {
  if (!(cause instanceof Error && 'syscall' in cause)) return cause
  return new OperatorError(
    'SD_WRITE_FAILED',
    `${root}: cannot write to this folder (${reasonOf(cause)}). Free space on the disk, or let this user write to the folder.`,
    { cause },
  )
}
