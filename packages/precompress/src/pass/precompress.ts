import { join } from 'node:path'
import type { BuildPolicy, Manifest } from '@serve-dist/manifest'
import { readIfThere } from '../folder/describe-file.ts'
import {
  type EncodingCache,
  findCacheDirectory,
  noCache,
  openEncodingCache,
} from '../cache/encoding-cache.ts'
import { pruneCache } from '../cache/prune-cache.ts'
import { type Encode, encode } from '../codecs/encode.ts'
import { codecMemory } from '../codecs/encoding-cost.ts'
import { availableCodings } from '../codecs/zstd-encoder.ts'
import { buildManifest, contentTime, type KnownOfFiles } from '../commit/build-manifest.ts'
import { openBuildWriter } from '../commit/build-writer.ts'
import { writeFailure } from '../commit/create-stager.ts'
import { adoptVariants, readEarlierBuild } from '../commit/read-earlier-build.ts'
import { refuseChanged } from '../commit/refuse-changed.ts'
import { openEncoder } from '../encode/open-encoder.ts'
import { type EncodeThread, startEncodeThread } from '../encode/start-encode-thread.ts'
import { type Disk, disk } from '../folder/disk.ts'
import { type ListedFile, listFiles, openFolder } from '../folder/list-files.ts'
import type { PrecompressOptions } from '../precompress-options.ts'
import { type ResolvedPrecompressOptions, resolvePrecompressOptions } from '../resolve-precompress-options.ts'
import { usableCores } from '@serve-dist/foundation/process/usable-cores'
import type { PolicyNeed } from '../record/build-record.ts'
import type { PolicyCheck } from '../policies/create-policy-check.ts'
import { findNeeds } from '../policies/find-needs.ts'
import { joinNeeds } from '../policies/join-needs.ts'
import { compressFiles } from './compress-files.ts'
import { describePages } from './describe-pages.ts'
import { addForeignVariants, describeStrangers, findSiblings } from './find-siblings.ts'

/** What a pass did. */
export interface PrecompressReport {
  /** The absolute path of the folder. */
  readonly directory: string
  readonly manifest: Manifest
  readonly warnings: readonly string[]
  /** Variants of earlier passes that no longer belonged, relative to the folder. */
  readonly removed: readonly string[]
  /** Variants that were new or changed, and the manifest when it changed, relative to the folder. */
  readonly written: readonly string[]
  /** Outcomes of encoding that earlier passes had kept in the cache. */
  readonly cacheHits: number
  /** Files encoded now, counted once for each coding. */
  readonly encodings: number
  /** What encoding took, summed over all cores. */
  readonly codecMs: number
  /** What the policies that are sent name for the build's sake, and why; none where none are sent. */
  readonly policyNeeds: readonly PolicyNeed[]
  /** From beginning to end. */
  readonly durationMs: number
}

/** What a pass works with; tests hand in others. */
export interface PassTools {
  readonly encode: Encode
  readonly startThread: () => EncodeThread
  readonly disk: Disk
}

export const passTools: PassTools = { encode, startThread: startEncodeThread, disk }

/**
 * Compresses every file of a folder that gains by it and writes the manifest that describes the folder.
 * Originals are never touched; an unchanged folder is not written to at all. One pass at a time may work
 * in a folder.
 *
 * @throws the reason of `signal` when it ended the pass.
 * @throws {@link OperatorError} that lists all problems at once; then no manifest is written.
 */
export async function precompress(
  directory: string,
  options: PrecompressOptions = {},
): Promise<PrecompressReport> {
  return await runPass(directory, options, passTools)
}

export async function runPass(
  directory: string,
  options: PrecompressOptions,
  tools: PassTools,
  { needs: recorded = [], ...known }: KnownOfFiles & { readonly needs?: readonly PolicyNeed[] } = {},
): Promise<PrecompressReport> {
  const startedAt = performance.now()
  const settings = resolvePrecompressOptions(options)
  const { signal } = settings
  signal?.throwIfAborted()
  const time = contentTime(process.env['SOURCE_DATE_EPOCH'])
  const warnings = new Set<string>()
  const warn = (message: string): void => {
    if (warnings.has(message)) return
    warnings.add(message)
    settings.onWarning(message)
  }

  // 1. List every file, without the variants of our own earlier passes, and look at what others compressed.
  const folder = await openFolder(directory)
  const before = await readEarlierBuild(folder, warn)
  const listed = await listFiles(folder, { patterns: settings, variants: before.variants, warn })
  const cache = openCache(folder, settings, warn)
  const siblings = await findSiblings(listed, { ...settings, folder, cache })
  for (const message of describeStrangers(siblings.strangers)) warn(message)
  const earlier = adoptVariants(before, siblings.ours)
  const files = listed.filter(({ path }) => !earlier.variants.has(path))
  warnOfCaseTwins(files, warn)
  if (files.length === 0) warn(`${folder}: ${reasonOfEmptiness(options)}, so nothing is served`)

  // 2. Describe and encode each file from one read; keep what pays, written aside.
  const encoder = openEncoder({ ...tools, cores: usableCores(), memory: codecMemory(settings.bytesInFlight) })
  const failOfWriting = (error: unknown): never => {
    throw writeFailure(folder, error)
  }
  const writer = await openBuildWriter(folder, earlier, {
    durable: settings.durable,
    disk: tools.disk,
  }).catch(failOfWriting)
  try {
    signal?.throwIfAborted()
    const { files: encoded, cacheHits } = await compressFiles(files, {
      ...settings,
      codings: availableCodings(settings.codings, warn),
      folder,
      encoder,
      cache,
      writer,
      ours: earlier.variants,
      occupied: siblings.occupied,
      warn,
    })
    signal?.throwIfAborted()
    const compressed = addForeignVariants(encoded, siblings.foreign)
    const described = compressed.map(({ file }) => file)
    const needs = [...recorded, ...(await findNeeds(folder, described))]
    const policy = joinNeeds(needs)
    const check = await openPolicyCheck(folder, settings, policy)
    const pages = await describePages(compressed, { ...settings, folder, check })
    check?.finish(warn)

    // 3. Compare with the disk again: a file that changed meanwhile fails the pass.
    await refuseChanged(folder, compressed, earlier)
    signal?.throwIfAborted()

    // 4. Commit: the variants into their places, the manifest last.
    const manifest = buildManifest(
      pages,
      { ...settings, policy, ...known },
      { ...time, earlier: earlier.manifest },
    )
    const { written, removed } = await writer.commit(manifest).catch(failOfWriting)
    prune(cache, settings.cacheSize)
    const { results: encodings, milliseconds: codecMs } = encoder.work
    return {
      directory: folder,
      manifest,
      warnings: [...warnings],
      removed,
      written,
      cacheHits,
      encodings,
      codecMs,
      policyNeeds: check === undefined ? [] : needs,
      durationMs: performance.now() - startedAt,
    }
  } catch (error) {
    await writer.discard()
    throw error
  } finally {
    await encoder.close()
  }
}

/** Its parser of pages is loaded where policies are sent. */
async function openPolicyCheck(
  folder: string,
  { serving, environment }: ResolvedPrecompressOptions,
  needs: BuildPolicy,
): Promise<PolicyCheck | undefined> {
  if (serving?.csp === undefined || serving.csp === false) return undefined
  const { createPolicyCheck } = await import('../policies/create-policy-check.ts')
  const headersFile = readIfThere(join(folder, '_headers')).toString()
  return createPolicyCheck({ serving, environment, needs, headersFile })
}

function openCache(
  folder: string,
  { cache, cacheDirectory }: ResolvedPrecompressOptions,
  warn: (message: string) => void,
): EncodingCache {
  const directory = cache ? (cacheDirectory ?? findCacheDirectory(folder)) : undefined
  return directory === undefined ? noCache : openEncodingCache({ directory, warn })
}

function reasonOfEmptiness({ include, exclude }: PrecompressOptions): string {
  return include === undefined && exclude === undefined
    ? 'it holds no file that can be served'
    : '"include" and "exclude" leave no file in the build'
}

/** Runs in the background; a later pass prunes what this one cannot. */
function prune(cache: EncodingCache, size: number): void {
  if (cache.directory === undefined) return
  void pruneCache(cache.directory, { size, bytesAdded: cache.bytesAdded() }).catch(() => undefined)
}

function warnOfCaseTwins(files: readonly ListedFile[], warn: (message: string) => void): void {
  for (const twins of caseTwins(files.map(({ path }) => path))) {
    warn(
      `${twins.join(' and ')} differ only by case: on macOS and Windows one overwrites the other; rename all but one`,
    )
  }
}

/** Groups of paths that are one path where the file system takes upper and lower case for the same. */
export function caseTwins(paths: readonly string[]): string[][] {
  const groups = new Map<string, string[]>()
  for (const path of paths) {
    // Such file systems (APFS, NTFS) take composed and decomposed letters for the same too.
    const folded = path.normalize('NFC').toLowerCase()
    groups.set(folded, [...(groups.get(folded) ?? []), path])
  }
  return [...groups.values()].filter((group) => group.length > 1)
}
