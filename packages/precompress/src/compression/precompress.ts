import { join } from 'node:path'
import type { BuildPolicy, Manifest } from '@serve-dist/manifest'
import { readIfThere } from '../folder/describe-file.ts'
import { type EncodingCache, findCacheDirectory, openEncodingCache } from '../cache/encoding-cache.ts'
import { pruneCache } from '../cache/prune-cache.ts'
import { type Encode, encode } from '../codecs/encode.ts'
import { memoryFor } from '../codecs/encoding-cost.ts'
import { availableCodings } from '../codecs/zstd-encoder.ts'
import { buildManifest, contentTime, type FileFacts } from '../commit/build-manifest.ts'
import { openBuildWriter } from '../commit/build-writer.ts'
import { adoptVariants, readEarlierBuild } from '../commit/read-earlier-build.ts'
import { refuseChangedFiles } from '../commit/refuse-changed-files.ts'
import { openEncoder } from '../encode/open-encoder.ts'
import { type EncodeThread, startEncodeThread } from '../encode/start-encode-thread.ts'
import { type Disk, disk } from '../folder/disk.ts'
import { type ListedFile, listFiles, openFolder } from '../folder/list-files.ts'
import { whileLocked } from '@serve-dist/foundation/files/while-locked'
import type { PrecompressOptions } from '../precompress-options.ts'
import { type ResolvedPrecompressOptions, resolvePrecompressOptions } from '../resolve-precompress-options.ts'
import { countUsableCores } from '@serve-dist/foundation/process/count-usable-cores'
import type { PolicyNeed } from '../record/build-record.ts'
import type { PolicyCheck } from '../policies/create-policy-check.ts'
import { findNeeds } from '../policies/find-needs.ts'
import { joinNeeds } from '../policies/join-needs.ts'
import { groupCaseCollisions } from './group-case-collisions.ts'
import { compressFiles } from './compress-files.ts'
import { describePages } from './describe-pages.ts'
import { addForeignVariants, findSiblings, warnAboutForeignVariants } from './find-siblings.ts'

/** The result of a compression step. */
export interface PrecompressReport {
  /** The absolute path of the folder. */
  readonly directory: string
  readonly manifest: Manifest
  readonly warnings: readonly string[]
  /** Paths of variants that earlier steps wrote and this step removed, relative to the folder. */
  readonly removed: readonly string[]
  /** New and changed variants, and the manifest if it changed, relative to the folder. */
  readonly written: readonly string[]
  /** The number of variants from the cache. */
  readonly cacheHits: number
  /** Files that this step encoded, counted once for each coding. */
  readonly encodings: number
  /** CPU time of encoding, summed over all cores. */
  readonly codecMs: number
  /** The sources that the build adds to its policies, with the reasons; empty if the build sends no policy. */
  readonly policyNeeds: readonly PolicyNeed[]
  readonly durationMs: number
}

/** The encoder, threads and disk of a compression step. Tests replace them. */
export interface CompressionTools {
  readonly encode: Encode
  readonly startThread: () => EncodeThread
  readonly disk: Disk
}

export const compressionTools: CompressionTools = { encode, startThread: startEncodeThread, disk }

/** Facts that earlier builds recorded about a folder. */
export interface RecordedFacts extends FileFacts {
  /** Sources that a `Content-Security-Policy` must name. */
  readonly needs?: readonly PolicyNeed[]
}

interface CompressionContext {
  readonly tools?: CompressionTools
  readonly recorded?: RecordedFacts
}

/**
 * Runs the compression step over a folder: compresses every file that becomes at least 5 % smaller, and writes the
 * manifest that describes the folder. The step never changes originals, and writes nothing if nothing changed. It waits
 * with a warning while another step runs in the folder.
 *
 * @throws the reason of `signal` if it ended the step.
 * @throws {@link OperatorError} that lists all problems at once; then no manifest is written.
 */
export async function precompress(
  directory: string,
  options: PrecompressOptions = {},
): Promise<PrecompressReport> {
  const { signal, onWarning } = resolvePrecompressOptions(options)
  signal?.throwIfAborted()
  const folder = await openFolder(directory)
  const run = async (): Promise<PrecompressReport> => await runCompression(folder, options)
  return await whileLocked(folder, { signal, warn: onWarning }, run)
}

export async function runCompression(
  directory: string,
  options: PrecompressOptions,
  { tools = compressionTools, recorded = {} }: CompressionContext = {},
): Promise<PrecompressReport> {
  const startedAt = performance.now()
  const settings = resolvePrecompressOptions(options)
  settings.signal?.throwIfAborted()
  const time = contentTime()
  const warnings = new Set<string>()
  const warn = (message: string): void => {
    if (!warnings.has(message)) settings.onWarning(message)
    warnings.add(message)
  }

  // 1. List every file except the variants of earlier steps, and find variants of other tools.
  const folder = await openFolder(directory)
  const cacheDirectory = settings.cacheDirectory ?? findCacheDirectory(folder)
  const cache = openEncodingCache({ directory: settings.cache ? cacheDirectory : undefined, warn })
  const before = await readEarlierBuild(folder, warn)
  const listed = await listFiles(folder, { patterns: settings, variants: before.variants, warn })
  const siblings = await findSiblings(listed, { ...settings, folder, cache })
  const earlier = adoptVariants(before, siblings.ours)
  const files = listed.filter(({ path }) => !earlier.variants.has(path))
  warnAboutForeignVariants(siblings.strangers, warn)
  warnOfNames(files, warn)
  if (files.length === 0) warn(`${folder}: ${describeEmptiness(options)}`)

  const encoder = openEncoder({
    ...tools,
    cores: countUsableCores(),
    memory: memoryFor(settings.bytesInFlight),
  })
  const writer = await openBuildWriter(folder, earlier, { durable: settings.durable, disk: tools.disk })
  try {
    // 2. Hash and encode each file. Write the variants that are worth keeping into the staging folder.
    settings.signal?.throwIfAborted()
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
    settings.signal?.throwIfAborted()
    const compressed = addForeignVariants(encoded, siblings.foreign)

    // 3. Read the pages: their links, and the sources that their policies must name.
    const described = compressed.map(({ file }) => file)
    const { needs: recordedNeeds = [], ...known } = recorded
    const needs = [...recordedNeeds, ...(await findNeeds(folder, described))]
    const policy = joinNeeds(needs)
    const check = await openPolicyCheck(folder, settings, policy)
    const pages = await describePages(compressed, { ...settings, folder, check })
    check?.finish(warn)

    // 4. Compare the files with the disk again. If one changed, the step fails.
    await refuseChangedFiles(folder, compressed, earlier)
    settings.signal?.throwIfAborted()

    // 5. Commit: move the variants into place, and the manifest last.
    const facts = { ...settings, policy, ...known }
    const manifest = buildManifest(pages, facts, { ...time, earlier: earlier.manifest })
    const { written, removed } = await writer.commit(manifest)
    prune(cache, settings.cacheSize)
    return {
      directory: folder,
      manifest,
      warnings: [...warnings],
      removed,
      written,
      cacheHits,
      encodings: encoder.work.results,
      codecMs: encoder.work.milliseconds,
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

/** Creates the check of policies. Its HTML parser is loaded only if the build sends policies. */
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

/** Prunes the cache in the background. Failures are left to the next step. */
function prune(cache: EncodingCache, size: number): void {
  if (cache.directory === undefined) return
  void pruneCache(cache.directory, { size, bytesAdded: cache.bytesAdded() }).catch(() => undefined)
}

function describeEmptiness({ include, exclude }: PrecompressOptions): string {
  return include === undefined && exclude === undefined
    ? 'the folder contains no file that the server can send. Name the folder that the build wrote.'
    : '"include" and "exclude" select no file. Correct the globs.'
}

function warnOfNames(files: readonly ListedFile[], warn: (message: string) => void): void {
  for (const twins of groupCaseCollisions(files.map(({ path }) => path))) {
    warn(
      `${twins.join(' and ')} differ only by case, so one overwrites the other on macOS and Windows. Rename all but one.`,
    )
  }
}
