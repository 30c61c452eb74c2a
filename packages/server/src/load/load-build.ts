import { documentUrl } from '@serve-dist/foundation/text/document-url'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import {
  checkServingRules,
  isSourceMap,
  type Manifest,
  OperatorError,
  type ServingRules,
  servingFiles,
} from '@serve-dist/manifest'
import type { KnownDigests } from '../files/inspect-file.ts'
import { retireFiles } from '../files/inspect-files.ts'
import { describeUnlistedFiles, refuseUnlistedPages, type UnlistedFiles } from '../judge/unlisted-files.ts'
import { credentialsOf, resolveBasicAuth } from '../rules/basic-auth.ts'
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
import { refuseHealthConflict } from '../rules/refuse-health-conflict.ts'
import { resolveVariables } from '../rules/resolve-variables.ts'
import { resolveFieldVariables } from '../rules/resolve-field-variables.ts'
import { requireUsablePolicy } from '../rules/require-usable-policy.ts'
import { unusedHeadersFileRules } from '../site/field-rules.ts'
import { listDeltas } from '../site/kept-build.ts'
import { describeMissingFallback } from '../site/describe-missing-fallback.ts'
import type { SitePolicy } from '../site/resolve-policy.ts'
import {
  type ResolvedServing,
  resolveServing,
  type ServingSources,
  sourceMapsOf,
} from '../site/resolve-serving.ts'
import type { ManifestEntry, Site, StoredBytes } from '../site/site.ts'
import type { BuildSource, SourceBuild } from './build-source.ts'
import { chooseFiles } from './choose-files.ts'
import { describeMemory, spareMemory } from './describe-memory.ts'
import { type JoinedSite, joinSite, type ReadBuild } from './join-site.ts'
import type { EarlierBuild } from './select-kept-builds.ts'
import type { ResolvedLiveSiteOptions } from './load-options.ts'
import { describeFutureTimes } from './describe-future-times.ts'

/** A loaded build and its site. It is plain data, except for the open files. */
export interface LoadedBuild extends JoinedSite {
  /** Whether the folder has a manifest. Otherwise the folder was described. */
  readonly hasManifest: boolean
  /** Equal for two loads with the same answers: the same folder, build and files on the disk. */
  readonly identity: string
  readonly build: ReadBuild
}

/** Closes the open files of a build, each after its last reader has finished. */
export function retireBuild({ build }: LoadedBuild): void {
  retireFiles(build.current.stored.values())
}

/** Called with each site before it is served. It throws for a site that the caller cannot serve, or opens what the site needs. */
export type BeforeServing = (site: Site) => void | Promise<void>

export interface LoadBuildOptions extends ResolvedLiveSiteOptions {
  /** Whether to refuse a folder without a manifest instead of describing it. */
  readonly needsManifest: boolean
  /** Whether to refuse a build with missing environment variables. Commands that only inspect the build need none. */
  readonly needsEnvironment: boolean
  /** Whether this is a start. A reload refuses less, because the earlier build stays in use. */
  readonly isStart: boolean
  /** The known digests of streamed files. This load adds its own. */
  readonly digests: KnownDigests
  /** The builds that were served before, the newest first. */
  readonly earlier: readonly EarlierBuild[]
  readonly beforeServing?: BeforeServing | undefined
}

/** A build that changes during each attempt probably has several writers. */
const mostAttempts = 3

/**
 * Reads and checks a build in eight steps:
 *
 * 1. Resolve the folder and identify its manifest (`folder-source.ts`, `fingerprint-manifest.ts`).
 * 2. Read the manifest, or describe a folder without one (`read-manifest.ts`). Make the environment module
 *    (`rules/runtime-module.ts`).
 * 3. Choose the bodies to hold in memory and the files to keep open (`choose-files.ts`).
 * 4. Compare the files with the manifest, and read the bodies (`files/inspect-files.ts`).
 * 5. Read `_headers` and `_redirects`, and combine all rules (`site/resolve-serving.ts`).
 * 6. Read the deltas that fit into memory (`mirror/read-deltas-into-memory.ts`). Build the table that requests are answered
 *    from, including files of earlier builds (`join-site.ts`).
 * 7. Warn about rules without an effect and about unlisted files (`judge/unlisted-files.ts`).
 * 8. Identify the manifest again. A new build removes it first, so a difference means that the files may belong to two
 *    builds. Then start again.
 *
 * @throws OperatorError that lists all problems.
 */
export async function loadBuild(source: BuildSource, given: LoadBuildOptions): Promise<LoadedBuild> {
  const rules =
    typeof given.rules === 'function' ? checkServingRules(await given.rules(), 'rules') : given.rules
  const options = { ...given, rules }
  let { needsManifest } = options
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    // 1. The folder.
    const mark = await source.mark()
    if (mark === undefined && needsManifest) {
      throw new OperatorError('SD_MANIFEST_MISSING', [
        `${source.place}: no manifest found. The build has not finished, or it ran without the serve-dist plugin. Reload after the build.`,
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
    `${source.place}: the build changed ${mostAttempts} times while it was read. Start or reload the server again after the build.`,
  ])
}

async function loadOnce(source: SourceBuild, given: LoadOptions): Promise<LoadedBuild> {
  // Warnings contain file names, which may contain control characters.
  const options = { ...given, onWarning: (text: string) => given.onWarning(escapeMessage(text)) }
  // 2. The manifest, and the environment.
  const read = await source.readManifest(options)
  const environment = await makeEnvironment(read, options)
  try {
    const described = describeBuild({ source, read, environment }, options)
    // 3. and 4. The files.
    const files = await readFiles(described, options)
    return await loadSiteOf(described, files, options).catch((error: unknown) => {
      // The caller's `onWarning` may throw: close the open files first.
      retireFiles(files.values())
      throw error
    })
  } catch (error) {
    const { problems } = environment
    if (problems.length === 0 || !(error instanceof OperatorError)) throw error
    throw new OperatorError(error.code, [...new Set([...error.problems, ...problems])], { cause: error })
  }
}

/** The options with the rules of this load. */
interface LoadOptions extends LoadBuildOptions {
  readonly rules: ServingRules
}

interface Description {
  readonly source: SourceBuild
  readonly read: Manifest
  readonly environment: MadeEnvironment
}

type BuildFiles = ReadonlyMap<ManifestEntry, StoredBytes>

interface DescribedBuild extends Description {
  /** The folder and the manifest with the environment module. */
  readonly folder: UnlistedFiles
  /** The manifest without denied files. */
  readonly wanted: Manifest
  readonly rules: readonly ServingRules[]
}

function describeBuild(description: Description, { rules, unlisted, isStart }: LoadOptions): DescribedBuild {
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
  // 3. Choose the bodies and the open files.
  const onDisk = { ...wanted, files: wanted.files.filter((file) => file !== module?.file) }
  const { expected, bytesToHold, ...chosen } = chooseFiles(onDisk, limits)
  const scarce = describeMemory(bytesToHold)
  if (scarce !== undefined) onWarning(scarce)

  // 4. The files.
  const files = await source.inspect(expected, {
    // A copy may write the manifest before the files, so a reload verifies unknown files.
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
  // 5. The rules.
  const { written, policy, serving, rulesDigest } = resolveRules(described, files, options)

  // 6. The table.
  const ahead = describeFutureTimes(wanted)
  const manifest: Manifest = {
    ...wanted,
    ...(ahead !== undefined && { timesAreFixed: true }),
    files: wanted.files.filter(({ path }) => !servingFiles.has(path)),
  }
  const { memoryBudget, openFiles } = options
  const room = memoryBudget - bytesHeld(files.values())
  const deltas = await source.readDeltasIntoMemory(manifest, { room, onWarning: options.onWarning })
  const changes = listDeltas(deltas)
  const build: ReadBuild = {
    current: { manifest, stored: files, deltas },
    serving,
    store: source.store,
    unlistedFiles: described.folder.unlisted.length,
    rulesDigest,
    limits: { memoryBudget: memoryBudget - bytesHeld(changes.map(({ bytes }) => bytes)), openFiles },
  }
  const earlier = await source.readKept(wanted, options.verify, {
    largestBody: options.largestBody,
    memoryBudget: Math.min(build.limits.memoryBudget - bytesHeld(files.values()), spareMemory()),
  })
  const { joined, problems } = joinSite(build, options.earlier, earlier)
  const { site, keptIdentity } = joined
  refuseHealthConflict(site)
  await options.beforeServing?.(site)

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
  readonly rulesDigest: string | undefined
}

function resolveRules(
  { source, folder: { manifest }, rules: given, environment }: DescribedBuild,
  files: BuildFiles,
  { needsEnvironment, onWarning }: LoadBuildOptions,
): ResolvedRules {
  const { values, readVariable } = environment
  const { rules, problems: unsetFields } = resolveFieldVariables(given, readVariable)
  const written = readServingFiles(manifest, files, onWarning)
  // Problems of a policy name the plugin, whose rules come first.
  const [ofPlugin = {}] = rules
  const build = { ...manifest, serving: ofPlugin }
  const policy = requireUsablePolicy(source, build, { ...written, rules, values, needsEnvironment })
  const serving = resolveServing({ directory: source.root, ...written, rules, policy })
  const { rules: redirects, problems: unset } = resolveVariables(serving.redirects, readVariable)
  const problems = [...environment.problems, ...(needsEnvironment ? [...unsetFields, ...unset] : [])]
  if (problems.length > 0) throw new OperatorError('SD_ENVIRONMENT_INVALID', problems)
  const basicAuth = resolveBasicAuth(rules, readVariable, needsEnvironment)
  const resolved = { ...serving, redirects, basicAuth }
  return { written, policy, serving: resolved, rulesDigest: digestRules(rules, resolved) }
}

/** Returns the digest of the rules, of the values of variables in them and of the users, or `undefined` without rules. */
function digestRules(
  sources: readonly ServingRules[],
  { redirects, basicAuth }: ResolvedServing,
): string | undefined {
  if (sources.every((rules) => Object.keys(rules).length === 0)) return undefined
  const users = basicAuth === undefined ? [] : [...credentialsOf(basicAuth)]
  return sha256Of(Buffer.from(JSON.stringify([sources, redirects, users])))
}

const ignoredConfiguration = `serve.json is ignored. Write its rules into serve-dist.config.js: ${documentUrl('migrate/serve')}`

/** Returns warnings about differences between the folder and the manifest. */
async function describeFolder(
  { source, folder, read, environment: { module } }: DescribedBuild,
  site: Site,
  { unlisted, isStart }: LoadBuildOptions,
): Promise<readonly (string | undefined)[]> {
  return [
    isStart ? await source.describeStart(site, folder.manifest) : undefined,
    isStart && read.files.some(({ path }) => path === 'serve.json') ? ignoredConfiguration : undefined,
    unlisted === 'ignore' ? undefined : describeUnlistedFiles(folder),
    isStart && module !== undefined ? describeEditedModule(source.root, read, module) : undefined,
  ]
}

/** Removes denied source maps, which may have been deleted after an upload to another service. */
function withoutSourceMaps(manifest: Manifest): Manifest {
  return { ...manifest, files: manifest.files.filter(({ path }) => !isSourceMap(path)) }
}

/** Identifies a site. Its id and environment identify the bodies in memory, but streamed files may have changed. */
function identify(
  { directory, environment, buildId, rulesDigest }: Site,
  files: Iterable<StoredBytes>,
): string {
  const streamed: string[] = []
  for (const stored of files) {
    if (stored.body === undefined) {
      streamed.push(`${stored.file}:${stored.fingerprint}`)
    }
  }
  return [directory, buildId, environment?.sha256 ?? '', rulesDigest ?? '', ...streamed].join('\n')
}

function bytesHeld(stored: Iterable<StoredBytes>): number {
  let held = 0
  for (const { body } of stored) held += body?.length ?? 0
  return held
}
