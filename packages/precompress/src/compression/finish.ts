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
import { whileLocked } from '@serve-dist/foundation/files/while-locked'
import type { PrecompressOptions } from '../precompress-options.ts'
import type { BuildRecord } from '../record/build-record.ts'
import { findRecords, type FoundRecords } from '../record/find-records.ts'
import { findEnvironment } from './find-environment.ts'
import { findPrecaching } from './find-precaching.ts'
import { findExcludedGlobs } from './find-excluded-globs.ts'
import { type PrecompressReport, runCompression } from './precompress.ts'
import { joinRecordedFacts } from './join-recorded-facts.ts'

/** Options of `finish`. Missing options come from an earlier manifest, otherwise from the record of the build. */
export interface FinishOptions extends Omit<PrecompressOptions, 'isHashed' | 'linksOf'> {
  /**
   * Records of the builds that wrote into the folder.
   *
   * @default records in the folder and in the caches of the project
   */
  readonly records?: readonly BuildRecord[]
  /**
   * The project's root. Its caches are searched in addition to those above the folder.
   *
   * @default the working directory
   */
  readonly root?: string
  /**
   * Globs of files with a content hash in their name that are not in a record. The manifest keeps them as the rule
   * `immutable`.
   *
   * @default the rule of the folder's manifest
   */
  readonly immutable?: readonly string[]
  /**
   * Globs of files whose names the framework hashes by contract, in addition to those of the records.
   *
   * @default []
   */
  readonly promises?: readonly string[]
}

/** The result of `finish`, and the source of its facts. */
export interface FinishReport extends PrecompressReport {
  /** Source of the facts: the folder's record, a record of the cache, an earlier manifest, or nothing. */
  readonly source: 'record' | 'cache' | 'manifest' | 'none'
  /** Time of the recorded build: ISO 8601, UTC, whole seconds. */
  readonly recordedAt?: string
  /** Number of immutable files in the manifest. */
  readonly hashedNames: number
}

/**
 * Compresses and describes a final folder, written by any program.
 *
 * Bytes come from the disk, names from the records of builds. An option has precedence over a manifest in the folder,
 * and that over the record. A build removes the manifest before it writes, so a manifest in the folder is later than
 * the record.
 *
 * @throws the errors of `precompress`.
 */
export async function finish(directory: string, options: FinishOptions = {}): Promise<FinishReport> {
  const folder = await openFolder(directory)
  const { signal, onWarning = () => {} } = options
  const run = async (): Promise<FinishReport> => await finishLocked(directory, folder, options)
  return await whileLocked(folder, { signal, warn: onWarning }, run)
}

async function finishLocked(
  directory: string,
  folder: string,
  options: FinishOptions,
): Promise<FinishReport> {
  const { records: given = [], root = process.cwd(), immutable, promises = [], ...others } = options
  const explicit = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined))
  const warnings: string[] = []
  const warn = (text: string): void => {
    const message = escapeMessage(text)
    warnings.push(message)
    options.onWarning?.(message)
  }
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
  const report = await runCompression(
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

/**
 * @throws OperatorError if the folder contains server code. A framework may have rendered a site into such a folder,
 * which is valid.
 */
function refuseServerFolder(directory: string, { main, names }: FoundRecords): void {
  if (main?.record.role !== 'server' || names.some((name) => name.endsWith('.html'))) return
  throw new OperatorError('SD_FOLDER_WRONG', [
    `${directory}: a build wrote this folder for a server, and browsers must not receive server code. Compress the folder that the build wrote for browsers.`,
  ])
}

/** Warns if the folder is, for example, `dist` and the build is `dist/client`. */
function warnOfBuildBelow(
  directory: string,
  { main, names }: FoundRecords,
  warn: (message: string) => void,
): void {
  const [build] = names.filter((name) => name.endsWith(`/${manifestPath}`)).toSorted()
  if (main?.source === 'record' || build === undefined || names.includes('index.html')) return
  const below = build.slice(0, -manifestPath.length - 1)
  warn(
    `${below}/ is a separate build, and this folder publishes its pages under ${below}/. If they belong at the root of the site, serve ${below}/ instead. To compress it again, run: ${compressCommand(join(directory, below), '@serve-dist/server')}`,
  )
}

/** Warns about files that given globs publish although the build's own globs exclude them. */
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
    `the server will publish ${joinFirstNames(published)}, which the build excluded. The given globs replace those of the build. To exclude these files again, use the globs of the build: ${globs}`,
  )
}

/** Returns the warning with both fixes, because the script does not show how vite-plugin-pwa made it. */
function precachedMessage(worker: string, module = ''): string {
  const ignored = `{ globIgnores: ['**/${module}'] }`
  return `${worker} precaches ${module}, so browsers with this service worker never receive new values. Exclude it with workbox: ${ignored}, or with injectManifest: ${ignored} if you wrote the service worker.`
}

/** Serving facts that manifests and records share. */
type Description = Pick<
  Manifest,
  'base' | 'appType' | 'assetsDirectory' | 'selection' | 'serving' | 'environment'
>

/** Returns the given fields that exist. */
function pick<Whole, Name extends keyof Whole>(whole: Whole, names: readonly Name[]): Pick<Whole, Name>
function pick(whole: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => names.includes(name)))
}
