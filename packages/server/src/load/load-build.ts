import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { isSourceMap, type Manifest, OperatorError, type ServingRules } from '@serve-dist/manifest'
import type { KnownDigests } from '../files/inspect-file.ts'
import { retireFiles } from '../files/inspect-files.ts'
import { describeUnlistedFiles, refuseUnlistedPages, type UnlistedFiles } from '../judge/unlisted-files.ts'
import { describePolicy } from '../rules/describe-policy.ts'
import { summarizeProblems } from '../rules/summarize-problems.ts'
import type { MadeEnvironment } from '../rules/make-environment-module.ts'
import { readServingFiles } from '../rules/read-serving-files.ts'
import {
  describeEditedModule,
  makeEnvironment,
  withModuleBody,
  withModuleFile,
} from '../rules/runtime-module.ts'
import { requireUsablePolicy } from '../rules/require-usable-policy.ts'
import { unusedHeadersFileRules } from '../site/field-rules.ts'
import { listDeltas } from '../site/kept-build.ts'
import { describeMissingFallback } from '../site/describe-missing-fallback.ts'
import type { SitePolicy } from '../site/resolve-policy.ts'
import {
  type ResolvedServing,
  resolveServing,
  servingFiles,
  type ServingSources,
  sourceMapsOf,
} from '../site/resolve-serving.ts'
import type { ManifestEntry, Site, StoredBytes } from '../site/site.ts'
import type { BuildSource, SourceBuild } from './build-source.ts'
import { chooseFiles } from './choose-files.ts'
import { describeMemory } from './describe-memory.ts'
import { type JoinedSite, joinSite, type ReadBuild } from './join-site.ts'
import type { EarlierBuild } from './select-kept-builds.ts'
import type { ResolvedLiveSiteOptions } from './load-options.ts'
import { describeFutureTimes } from './describe-future-times.ts'

/** A build that was read and checked, with its site: plain data, besides the files that are kept open. */
export interface LoadedBuild extends JoinedSite {
  /** Whether the folder has a manifest; a folder without one was described instead. */
  readonly hasManifest: boolean
  /** Equal for two loads that answer alike: the same folder, the same build, the same files on the disk. */
  readonly identity: string
  /** What the site was made of. */
  readonly build: ReadBuild
}

/** Closes what was kept open of a build, each file as soon as its last reader has finished. */
export function retireBuild({ build }: LoadedBuild): void {
  retireFiles(build.current.stored.values())
}

/** How a build is read. */
export interface LoadBuildOptions extends ResolvedLiveSiteOptions {
  /** Whether a folder without a manifest is refused rather than described. */
  readonly needsManifest: boolean
  /** Whether a build is refused that requires what the environment lacks: who only looks at it needs no values. */
  readonly needsEnvironment: boolean
  /** Whether a server or a host starts with it: a reload refuses less, for the build before it is served on. */
  readonly isStart: boolean
  /** What is known of streamed files from earlier loads; this one leaves behind what it knows. */
  readonly digests: KnownDigests
  /** Builds that were served before, the newest first. */
  readonly earlier: readonly EarlierBuild[]
}

/** A build that changes each time that it is read is being written by several. */
const mostAttempts = 3

/**
 * Reads a build and checks it, in eight steps:
 *
 * 1. Resolve the folder, and note which manifest it has (`folder-source.ts`, `fingerprint-manifest.ts`).
 * 2. Read the manifest, or describe a folder that has none (`read-manifest.ts`); make the module of its environment
 *    (`rules/runtime-module.ts`).
 * 3. Choose the bodies to hold in memory, and the files to keep open (`choose-files.ts`).
 * 4. Compare the files with the manifest, and read the bodies (`files/inspect-files.ts`).
 *    Then bring the deltas of the build that there is room for (`mirror/read-deltas-into-memory.ts`).
 * 5. Read `_headers` and `_redirects`, and join all that says how to serve (`site/resolve-serving.ts`).
 * 6. Build the table that requests are answered from, with files of earlier builds (`join-site.ts`).
 * 7. Warn of rules that never count, and of files that the manifest does not list (`judge/unlisted-files.ts`).
 * 8. Look at the manifest again: a build takes it away before anything else, so if it is another one now, what was
 *    read may be of two builds, and is read anew.
 *
 * @throws OperatorError with all problems at once.
 */
export async function loadBuild(source: BuildSource, options: LoadBuildOptions): Promise<LoadedBuild> {
  let { needsManifest } = options
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    // 1. The folder.
    const mark = await source.mark()
    if (mark === undefined && needsManifest) {
      throw new OperatorError('SD_MANIFEST_MISSING', [
        `${source.place}: no manifest found. Either the build has not finished (reload when it has), or it ran without the serve-dist plugin.`,
      ])
    }
    needsManifest ||= mark !== undefined
    const build = await source.open(mark !== undefined)
    const loaded = await loadOnce(build, options).catch((error: unknown) => ({ error }))
    // 8. The folder again.
    if ((await source.mark()) === mark) {
      if ('error' in loaded) throw loaded.error
      return loaded
    }
    if (!('error' in loaded)) retireBuild(loaded)
  }
  throw new OperatorError('SD_BUILD_CHANGED', [
    `${source.place}: the build changed ${mostAttempts} times while it was read; reload once it is done`,
  ])
}

async function loadOnce(source: SourceBuild, given: LoadBuildOptions): Promise<LoadedBuild> {
  // Warnings name files, and are printed as they are.
  const options = { ...given, onWarning: (text: string) => given.onWarning(escapeMessage(text)) }
  // 2. The manifest, and the environment.
  const read = await source.readManifest(options)
  const environment = await makeEnvironment(read, options)
  try {
    const described = describeBuild({ source, read, environment }, options)
    // 3. and 4. The files.
    const files = await readFiles(described, options)
    return await loadSiteOf(described, files, options).catch((error: unknown) => {
      // `onWarning` is user code and may throw: close the open files first.
      retireFiles(files.values())
      throw error
    })
  } catch (error) {
    const { problems } = environment
    if (problems.length === 0 || !(error instanceof OperatorError)) throw error
    throw new OperatorError(error.code, [...new Set([...error.problems, ...problems])], { cause: error })
  }
}

/** A manifest as it was read, and the module that replaces one of its files. */
interface Description {
  readonly source: SourceBuild
  readonly read: Manifest
  readonly environment: MadeEnvironment
}

type BuildFiles = ReadonlyMap<ManifestEntry, StoredBytes>

/** A build before its files are read. */
interface DescribedBuild extends Description {
  /** The folder, and the manifest with the module of the environment. */
  readonly folder: UnlistedFiles
  /** The manifest without files that are denied. */
  readonly wanted: Manifest
  /** The rules of the manifest and of the options. */
  readonly rules: readonly ServingRules[]
}

function describeBuild(
  description: Description,
  { rules, unlisted, isStart }: LoadBuildOptions,
): DescribedBuild {
  const { source, read, environment } = description
  const { module } = environment
  const { directory, root } = source
  const manifest = module === undefined ? read : withModuleFile(read, module)
  const listed = module === undefined ? read : { ...read, files: [...read.files, module.file] }
  const folder = { directory, root, manifest, unlisted: source.findUnlisted(listed) }
  if (isStart && unlisted === 'refuse') refuseUnlistedPages(folder)
  const sources = [manifest.serving ?? {}, rules]
  const wanted = sourceMapsOf(sources) === 'deny' ? withoutSourceMaps(manifest) : manifest
  return { ...description, folder, wanted, rules: sources }
}

async function readFiles(
  { source, wanted, environment: { module } }: DescribedBuild,
  { verify, isStart, digests, onWarning, ...limits }: LoadBuildOptions,
): Promise<BuildFiles> {
  // 3. What to hold, and what to keep open.
  const onDisk = { ...wanted, files: wanted.files.filter((file) => file !== module?.file) }
  const { expected, bytesToHold, ...chosen } = chooseFiles(onDisk, limits)
  const scarce = describeMemory(bytesToHold)
  if (scarce !== undefined) onWarning(scarce)

  // 4. The files.
  const files = await source.inspect(expected, {
    // A copy may place the manifest before the files that it describes: a reload proves those that it does not know.
    verify: verify === 'size' && !isStart ? 'changed' : verify,
    digests,
    ...chosen,
  })
  return module === undefined ? files : withModuleBody(files, module)
}

async function loadSiteOf(
  described: DescribedBuild,
  files: BuildFiles,
  options: LoadBuildOptions,
): Promise<LoadedBuild> {
  const { source, wanted } = described
  // 5. How to serve it.
  const { written, policy, serving } = resolveRules(described, files, options)

  // 6. The table.
  const ahead = describeFutureTimes(wanted)
  const manifest: Manifest = {
    ...wanted,
    ...(ahead !== undefined && { timesAreFixed: true }),
    files: wanted.files.filter(({ path }) => !servingFiles.has(path)),
  }
  const { memoryBudget, openFiles } = options
  const deltas = await source.readDeltasIntoMemory?.(memoryBudget - bytesHeld(files.values()))
  const changes = listDeltas(deltas)
  const build: ReadBuild = {
    current: { manifest, stored: files, deltas },
    serving,
    place: source.directory,
    unlistedFiles: described.folder.unlisted.length,
    limits: { memoryBudget: memoryBudget - bytesHeld(changes.map(({ bytes }) => bytes)), openFiles },
  }
  const { joined, problems } = joinSite(build, options.earlier, source.kept)
  const { site, keptIdentity } = joined

  // 7. The warnings.
  for (const warning of [
    ...unusedHeadersFileRules(written.headersFile, manifest),
    ...summarizeProblems(problems),
    ahead,
    describeMissingFallback(site),
    ...(await describeFolder(described, site, options)),
    ...(policy === undefined ? [] : describePolicy(site, policy)),
  ])
    if (warning !== undefined) options.onWarning(warning)
  const identities = [
    identify(site, files.values()),
    keptIdentity,
    deltas && ['deltas', ...changes.map(({ sha256 }) => sha256)].join(),
  ]
  return { ...joined, hasManifest: source.hasManifest, identity: identities.join('\n'), build }
}

interface ResolvedRules {
  readonly written: Pick<ServingSources, 'headersFile' | 'redirectsFile'>
  readonly policy: SitePolicy | undefined
  readonly serving: ResolvedServing
}

function resolveRules(
  { source, folder: { manifest }, rules, environment }: DescribedBuild,
  files: BuildFiles,
  { needsEnvironment, onWarning }: LoadBuildOptions,
): ResolvedRules {
  const { values, problems } = environment
  const written = readServingFiles(manifest, files, onWarning)
  const policy = requireUsablePolicy(source, manifest, { ...written, rules, values, needsEnvironment })
  if (problems.length > 0) throw new OperatorError('SD_ENVIRONMENT_INVALID', problems)
  return { written, policy, serving: resolveServing({ directory: source.root, ...written, rules, policy }) }
}

/** What differs between a folder and its manifest, and what a start says of a folder. */
async function describeFolder(
  { source, folder, read, environment: { module } }: DescribedBuild,
  site: Site,
  { unlisted, isStart }: LoadBuildOptions,
): Promise<readonly (string | undefined)[]> {
  return [
    isStart ? await source.describeStart(site, folder.manifest) : undefined,
    unlisted === 'ignore' ? undefined : describeUnlistedFiles(folder),
    isStart && module !== undefined ? describeEditedModule(source.root, read, module) : undefined,
  ]
}

/** What is denied is not even looked for: it may have been deleted after it was uploaded elsewhere. */
function withoutSourceMaps(manifest: Manifest): Manifest {
  return { ...manifest, files: manifest.files.filter(({ path }) => !isSourceMap(path)) }
}

/** Held bodies are what the build's id says, and the environment; a streamed file may have been written anew. */
function identify({ directory, environment, buildId }: Site, files: Iterable<StoredBytes>): string {
  const streamed: string[] = []
  for (const stored of files) {
    if (stored.body === undefined) {
      streamed.push(`${stored.file}:${stored.fingerprint}`)
    }
  }
  return [directory, buildId, environment?.sha256 ?? '', ...streamed].join('\n')
}

function bytesHeld(stored: Iterable<StoredBytes>): number {
  let held = 0
  for (const { body } of stored) held += body?.length ?? 0
  return held
}
