import { join } from 'node:path'
import {
  compressCommand,
  type Manifest,
  manifestPath,
  OperatorError,
  type Selection,
} from '@serve-dist/manifest'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { readStateFiles } from '../commit/read-earlier-build.ts'
import { matchingNames, openFolder } from '../folder/list-files.ts'
import type { PrecompressOptions } from '../precompress-options.ts'
import type { BuildRecord } from '../record/build-record.ts'
import { findRecords, type FoundRecords } from '../record/find-records.ts'
import { findEnvironment } from './find-environment.ts'
import { findPrecaching } from './find-precaching.ts'
import { findExcludedGlobs } from './find-excluded-globs.ts'
import { type PrecompressReport, runPass } from './precompress.ts'
import { joinRecordedFacts } from './join-recorded-facts.ts'

/** What `finish` takes: what is left out is taken from an earlier manifest, else from the record of the build. */
export interface FinishOptions extends Omit<PrecompressOptions, 'isHashed' | 'linksOf'> {
  /**
   * Records of builds that wrote into the folder, by whoever holds them.
   *
   * @default those in the folder and in the caches of the project
   */
  readonly records?: readonly BuildRecord[]
  /**
   * The project's root, whose caches are looked at besides those above the folder.
   *
   * @default the working directory
   */
  readonly root?: string
  /**
   * Globs of files with a content hash in their name that no record knows; kept in the manifest as the rule
   * `immutable`.
   *
   * @default the rule that the folder has
   */
  readonly immutable?: readonly string[]
  /**
   * Globs of files whose names the framework hashes by contract, besides those of the records.
   *
   * @default []
   */
  readonly promises?: readonly string[]
}

/** What a pass did, and what it knew. */
export interface FinishReport extends PrecompressReport {
  /** Where that came from: the record that lies in the folder, one of the cache, an earlier manifest, or nowhere. */
  readonly source: 'record' | 'cache' | 'manifest' | 'none'
  /** When the build of the record wrote: ISO 8601, UTC, whole seconds. */
  readonly recordedAt?: string
  /** Files that the manifest calls immutable. */
  readonly hashedNames: number
}

/**
 * Compresses and describes a folder in which everything is final, whoever wrote it: bytes are taken from the disk,
 * names from what builds recorded. An option counts before what a manifest in the folder says, that before the
 * record: a build withdraws the manifest before it writes, so that one which stands is later than the record.
 *
 * @throws as `precompress` does.
 */
export async function finish(directory: string, options: FinishOptions = {}): Promise<FinishReport> {
  const { records: given = [], root = process.cwd(), immutable, promises = [], ...others } = options
  const explicit = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined))
  const warnings: string[] = []
  const warn = (text: string): void => {
    const message = escapeMessage(text)
    warnings.push(message)
    options.onWarning?.(message)
  }
  const folder = await openFolder(directory)
  const { manifest: earlier, manifestText } = await readStateFiles(folder)
  const found = await findRecords(folder, { given, root, warn })
  const record = found.main?.record
  const described: Description | undefined =
    (manifestText === undefined ? undefined : earlier) ?? record ?? earlier

  refuseServerFolder(directory, found)
  if (manifestText === undefined) warnOfBuildBelow(directory, found, warn)
  const exclude = options.exclude ?? described?.selection?.exclude ?? []
  const below = await findExcludedGlobs(folder, found)
  for (const { globs, reason } of below) if (!globs.every((glob) => exclude.includes(glob))) warn(reason)
  const inherited: PrecompressOptions = {
    ...(described && pick(described, ['base', 'appType', 'assetsDirectory', 'serving', 'environment'])),
    ...pick(described?.selection ?? {}, ['include']),
    ...(record && pick(record, ['codings', 'minimumSize'])),
  }
  const serving = options.serving ?? inherited.serving
  const left = [...new Set([...exclude, ...below.flatMap(({ globs }) => globs)])]
  const { environment = inherited.environment, include = inherited.include ?? ['**'] } = options
  const base = options.base ?? described?.base ?? '/'
  const recalled = await joinRecordedFacts(folder, found, { base, earlier, promises })
  const report = await runPass(
    folder,
    {
      ...inherited,
      ...explicit,
      exclude: left,
      ...(environment && {
        environment: await findEnvironment(folder, environment, { include, exclude: left }),
      }),
      ...(immutable && { serving: { ...serving, immutable } }),
      ...recalled.options,
    },
    { recorded: recalled.known },
  )
  if (described === record && (options.include ?? options.exclude) !== undefined)
    await tellPublished(folder, record?.selection ?? {}, { manifest: report.manifest, warn })
  for (const worker of await findPrecaching(folder, report.manifest))
    warn(precachedMessage(worker, report.manifest.environment?.path))
  return {
    ...report,
    warnings: [...new Set([...warnings, ...report.warnings])],
    source: found.main?.source ?? (earlier === undefined ? 'none' : 'manifest'),
    ...(record && { recordedAt: record.time }),
    hashedNames: report.manifest.files.filter(({ cache }) => cache === 'immutable').length,
  }
}

/** @throws OperatorError where a server's code would be published; a framework may render a site into such a folder. */
function refuseServerFolder(directory: string, { main, names }: FoundRecords): void {
  if (main?.record.role !== 'server' || names.some((name) => name.endsWith('.html'))) return
  throw new OperatorError('SD_FOLDER_WRONG', [
    `${directory}: a build wrote it for a server, and browsers must not be sent its files; compress the folder that it wrote for browsers`,
  ])
}

/** `dist`, where the build is `dist/client`. */
function warnOfBuildBelow(
  directory: string,
  { main, names }: FoundRecords,
  warn: (message: string) => void,
): void {
  const [build] = names.filter((name) => name.endsWith(`/${manifestPath}`)).toSorted()
  if (main?.source === 'record' || build === undefined || names.includes('index.html')) return
  const below = build.slice(0, -manifestPath.length - 1)
  warn(
    `${below}/ is a build of its own; if browsers load its pages from the root, run: ${compressCommand(join(directory, below), '@serve-dist/server')}`,
  )
}

/** Warns of files that are published by given globs, which take the place of those of the build. */
async function tellPublished(
  folder: string,
  { include = ['**'], exclude = [] }: Selection,
  { manifest, warn }: { readonly manifest: Manifest; readonly warn: (message: string) => void },
): Promise<void> {
  const { include: taken = ['**'], exclude: left = [] } = manifest.selection ?? {}
  if (String([include, exclude]) === String([taken, left])) return
  const before = new Set(await matchingNames(folder, { include, exclude }))
  const published = manifest.files.map(({ path }) => path).filter((path) => !before.has(path))
  if (published.length === 0) return
  const globs = [
    ...include.filter((glob) => glob !== '**').map((glob) => `include ${glob}`),
    ...exclude.map((glob) => `exclude ${glob}`),
  ].join(', ')
  warn(
    `${joinFirstNames(published)} will be served, though the build left ${published.length === 1 ? 'it' : 'them'} out: given globs take the place of its own, so name these too: ${globs}`,
  )
}

/** Both lines, for the script does not say which of its ways vite-plugin-pwa made it. */
function precachedMessage(worker: string, module = ''): string {
  const ignored = `{ globIgnores: ['**/${module}'] }`
  return `${worker} precaches ${module}: a browser that has this service worker never learns of a new environment; leave it out with "workbox: ${ignored}", or "injectManifest: ${ignored}" for a service worker of your own`
}

/** How a folder is to be described and served, as manifests and records say it. */
type Description = Pick<
  Manifest,
  'base' | 'appType' | 'assetsDirectory' | 'selection' | 'serving' | 'environment'
>

/** These fields of it, where they are there. */
function pick<Whole, Name extends keyof Whole>(whole: Whole, names: readonly Name[]): Pick<Whole, Name>
function pick(whole: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => names.includes(name)))
}
