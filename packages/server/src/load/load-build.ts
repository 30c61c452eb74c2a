import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { isSourceMap, type Manifest, OperatorError } from '@serve-dist/manifest'
import type { BuildSource, KeptBySource, SourceBuild } from './build-source.ts'
import { chooseFiles } from './choose-files.ts'
import { unusedHeadersFileRules } from '../site/field-rules.ts'
import type { KnownDigests } from '../files/inspect-file.ts'
import { retireFiles } from '../files/inspect-files.ts'
import { foldProblems } from '../rules/fold-problems.ts'
import { describeUnlisted, refuseLostPages } from '../judge/judge-unlisted.ts'
import type { MadeEnvironment } from '../rules/make-environment-module.ts'
import { type JoinedSite, joinSite } from './join-site.ts'
import type { EarlierBuild } from './keep-earlier.ts'
import { readServingFiles } from '../rules/read-serving-files.ts'
import { listDeltas, type StoredBuild } from '../site/kept-build.ts'
import { missingFallback } from '../site/missing-fallback.ts'
import { resolveServing, servingFiles, sourceMapsOf } from '../site/resolve-serving.ts'
import type { Site, StoredBytes } from '../site/site.ts'
import type { ResolvedLiveSiteOptions } from './load-options.ts'
import { describeEdited, makeEnvironment, withBody, withModule } from '../rules/runtime-module.ts'
import { describeTimesAhead } from './times-ahead.ts'
import { describeMemory } from './describe-memory.ts'
import { describePolicy } from '../rules/describe-policy.ts'
import { usablePolicy } from '../rules/usable-policy.ts'

/** A site, with what its maker must know of it. */
export interface LoadedBuild extends JoinedSite {
  /** Whether the folder has a manifest; one without was described instead. */
  readonly hasManifest: boolean
  /** Equal for two loads that answer alike: the same folder, the same build, the same files on the disk. */
  readonly identity: string
  /** What the site was made of. */
  readonly build: StoredBuild
  /** What it is with files of the builds that its source keeps by now. */
  withKept(source: KeptBySource, before: readonly EarlierBuild[]): JoinedSite
  /** Closes what was kept open of the build, as soon as nobody reads from it. */
  retire(): void
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
 * 1. Resolve the folder, and note which manifest it has (`folder-source.ts`, `mark-manifest.ts`).
 * 2. Read the manifest, or describe a folder that has none (`read-manifest.ts`); make the module of its environment
 *    (`rules/runtime-module.ts`).
 * 3. Choose the bodies to hold in memory, and the files to keep open (`choose-files.ts`).
 * 4. Compare the files with the manifest, and read the bodies (`files/inspect-files.ts`).
 *    Then bring the deltas of the build that there is room for (`mirror/hold-deltas.ts`).
 * 5. Read `_headers` and `_redirects`, and join all that says how to serve (`site/resolve-serving.ts`).
 * 6. Build the table that requests are answered from, with files of earlier builds (`join-site.ts`).
 * 7. Warn of rules that never count, and of files that the manifest does not list (`judge/judge-unlisted.ts`).
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
    if (!('error' in loaded)) loaded.retire()
  }
  throw new OperatorError('SD_BUILD_CHANGED', [
    `${source.place}: the build changed ${mostAttempts} times while it was read; reload once it is done`,
  ])
}

async function loadOnce(build: SourceBuild, given: LoadBuildOptions): Promise<LoadedBuild> {
  // Warnings name files, and are printed as they are.
  const options = { ...given, onWarning: (text: string) => given.onWarning(escapeMessage(text)) }
  // 2. The manifest, and the environment.
  const manifest = await build.readManifest(options)
  const made = await makeEnvironment(manifest, options)
  const { problems } = made
  try {
    return await loadDescribed(build, { ...made, manifest }, options)
  } catch (error) {
    if (problems.length === 0 || !(error instanceof OperatorError)) throw error
    throw new OperatorError(error.code, [...new Set([...error.problems, ...problems])], { cause: error })
  }
}

/** A manifest, the module in the place of one of its files, and what is wrong with the environment. */
interface Description extends MadeEnvironment {
  readonly manifest: Manifest
}

async function loadDescribed(
  build: SourceBuild,
  { manifest: read, module, values, problems: unset }: Description,
  options: LoadBuildOptions,
): Promise<LoadedBuild> {
  const { verify, memoryBudget, largestBody, rules, openFiles, unlisted, isStart, digests, onWarning } =
    options
  const { needsEnvironment } = options
  const { directory, root, hasManifest } = build
  const whole = module === undefined ? read : withModule(read, module)
  const listed = module === undefined ? read : { ...read, files: [...read.files, module.file] }
  const found = { directory, root, manifest: whole, unlisted: build.findUnlisted(listed) }
  if (isStart && unlisted === 'refuse') refuseLostPages(found)

  const sources = [whole.serving ?? {}, rules]
  const wanted = sourceMapsOf(sources) === 'deny' ? withoutSourceMaps(whole) : whole

  // 3. What to hold, and what to keep open.
  const onDisk = { ...wanted, files: wanted.files.filter((file) => file !== module?.file) }
  const { expected, bytesToHold, ...chosen } = chooseFiles(onDisk, { memoryBudget, largestBody, openFiles })
  const scarce = describeMemory(bytesToHold)
  if (scarce !== undefined) onWarning(scarce)

  // 4. The files.
  const inspected = await build.inspect(expected, {
    // A copy may place the manifest before the files that it describes: a reload proves those that it does not know.
    verify: verify === 'size' && !isStart ? 'changed' : verify,
    digests,
    ...chosen,
  })
  const retire = (): void => retireFiles(inspected.values())
  try {
    const files = module === undefined ? inspected : withBody(inspected, module)
    // 5. How to serve it.
    const written = readServingFiles(whole, files, onWarning)
    const policy = usablePolicy(build, whole, { ...written, rules: sources, values, needsEnvironment })
    if (unset.length > 0) throw new OperatorError('SD_ENVIRONMENT_INVALID', unset)
    const serving = resolveServing({ directory: root, ...written, rules: sources, policy })

    // 6. The table.
    const ahead = describeTimesAhead(wanted)
    const manifest: Manifest = {
      ...wanted,
      ...(ahead !== undefined && { timesAreFixed: true }),
      files: wanted.files.filter(({ path }) => !servingFiles.has(path)),
    }
    const deltas = await build.holdDeltas?.(memoryBudget - bytesHeld(files.values()))
    const changes = listDeltas(deltas)
    const current = { manifest, stored: files, deltas }
    const room = memoryBudget - bytesHeld(changes.map(({ bytes }) => bytes))
    const limits = { memoryBudget: room, openFiles }
    const readBuild = { current, serving, place: directory, unlistedFiles: found.unlisted.length, limits }
    const { joined, problems } = joinSite(readBuild, options.earlier, build.kept)
    const { site, keptIdentity } = joined

    // 7. The warnings.
    const missing = missingFallback(site)
    const started = isStart ? await build.describeStart(site, whole) : undefined
    const untold = unlisted === 'ignore' ? undefined : describeUnlisted(found)
    const edited = isStart && module !== undefined ? describeEdited(root, read, module) : undefined
    for (const problem of [
      ...unusedHeadersFileRules(written.headersFile, manifest),
      ...foldProblems(problems),
      ...(ahead === undefined ? [] : [ahead]),
      ...(missing === undefined ? [] : [missing]),
      ...(started === undefined ? [] : [started]),
      ...(untold === undefined ? [] : [untold]),
      ...(edited === undefined ? [] : [edited]),
      ...(policy === undefined ? [] : describePolicy(site, policy)),
    ])
      onWarning(problem)
    return {
      ...joined,
      hasManifest,
      identity: `${identify(site, files.values())}\n${keptIdentity}\n${deltas && ['deltas', ...changes.map(({ sha256 }) => sha256)].join()}`,
      build: current,
      withKept: (source, before) => joinSite(readBuild, before, source).joined,
      retire,
    }
  } catch (error) {
    // `onWarning` is user code and may throw: close the open files first.
    retire()
    throw error
  }
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
