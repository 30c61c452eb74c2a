import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { documentUrl } from '@serve-dist/foundation/text/document-url'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import {
  isPageType,
  loadOptional,
  type Manifest,
  manifestPath,
  OperatorError,
  parseManifest,
  recordPath,
  variantPath,
  servingFiles,
} from '@serve-dist/manifest'
import { createProgressLine } from '@serve-dist/foundation/terminal/create-progress-line'
import type { FinishReport } from '@serve-dist/precompress'
import type { CompressFlags } from './flags.ts'
import { refuseToCompress } from '../judge/refuse-unlikely-folder.ts'

/**
 * Compresses a folder and prints a table of the results. A progress line appears if standard error is a terminal.
 *
 * Flags override the earlier manifest, and the earlier manifest overrides the record of the build.
 */
export async function compressCommand(directory: string, flags: CompressFlags): Promise<void> {
  const neededBy = 'serve-dist compress'
  const { finish, warnAboutUnmatchedGlobs } = await loadOptional(
    { name: '@serve-dist/precompress', neededBy },
    async () => await import('@serve-dist/precompress'),
  )
  const { formatPass } = await loadOptional(
    { name: '@serve-dist/report', neededBy },
    async () => await import('@serve-dist/report'),
  )
  const progressLine = createProgressLine(process.stderr, 'compressing')
  const warn = (message: string): void => {
    progressLine.clear()
    process.stderr.write(`serve-dist: warning: ${escapeMessage(message)}\n`)
  }
  const earlier = readEarlierManifest(directory)
  const root = resolve(directory)
  const isDescribed = earlier !== undefined || existsSync(join(root, recordPath))
  const isFolder = statSync(root, { throwIfNoEntry: false })?.isDirectory() === true
  // Globs show that the user knows the content of the folder.
  const isChosen = (flags.include ?? flags.exclude ?? earlier?.selection?.include) !== undefined
  if (isFolder && !isChosen) refuseToCompress({ directory, root }, isDescribed)
  try {
    const pass = await finish(directory, {
      ...flags,
      onProgress: (progress) => progressLine.update(progress),
      onWarning: warn,
    })
    const { include, exclude, immutable } = flags
    const given = { '--immutable': immutable, '--include': include, '--exclude': exclude }
    await warnAboutUnmatchedGlobs(directory, given, warn)
    const isThere = (path: string): boolean => existsSync(join(directory, path))
    for (const message of describeManifestChanges(earlier, pass.manifest, isThere)) warn(message)
    const loss = pass.source === 'none' ? describeLostManifest(pass.manifest) : undefined
    if (loss !== undefined) warn(loss)
    progressLine.clear()
    const colors = process.stdout.isTTY && process.stdout.hasColors()
    process.stdout.write(`${escapeMessage(describeNameSource(pass))}\n${formatPass(pass, { colors })}\n`)
  } finally {
    progressLine.clear()
  }
}

/** Says how the hashed names are known, or what is lost without them and how to fix it. */
export function describeNameSource(
  {
    source,
    recordedAt,
    hashedNames,
    manifest,
  }: Pick<FinishReport, 'source' | 'recordedAt' | 'hashedNames' | 'manifest'>,
  now: Date = new Date(),
): string {
  const known = `${pluralize(hashedNames, 'hashed name')} known`
  if (recordedAt !== undefined) {
    const where = source === 'cache' ? ' (its record is in the cache, not in the folder)' : ''
    return `${known} from the build of ${localTime(new Date(recordedAt), now)}${where}`
  }
  const others = source === 'manifest' ? 'the earlier manifest' : 'other builds of this project'
  if (hashedNames > 0) return `${known} from ${others}; no record of a build of this folder found`
  const globs = manifest.serving?.immutable ?? []
  if (globs.length > 0) return `no record of a build found; immutable by your globs: ${globs.join(', ')}`
  return [
    'no record of a build found, so no file is immutable: browsers revalidate every file on each visit.',
    `Add @serve-dist/vite to the plugins or use your framework's integration (${documentUrl('frameworks')}), and build again.`,
    "Or select the files that have a content hash in their name: --immutable 'assets/**' (saved in the manifest)",
  ].join('\n')
}

/** Returns `12:03` for today, and the date and time for another day. */
function localTime(time: Date, now: Date): string {
  const clock = time.toTimeString().slice(0, 5)
  // The Swedish date format is that of ISO 8601.
  return time.toDateString() === now.toDateString() ? clock : `${time.toLocaleDateString('sv')} ${clock}`
}

/** Returns a warning if the folder has no manifest but contains variants of an earlier compression. */
export function describeLostManifest({ files }: Manifest): string | undefined {
  const paths = new Set(files.map(({ path }) => path))
  const compressed = files.filter(
    ({ path, variants }) =>
      variants.length > 1 &&
      paths.has(variantPath(path, 'zstd')) &&
      variants.some(({ coding }) => coding !== 'zstd' && paths.has(variantPath(path, coding))),
  )
  const [first] = compressed
  if (first === undefined) return undefined
  return `${pluralize(compressed.length, 'file')} had variants already, such as ${first.path}: the folder probably lost its manifest. Without its rules and its list of files, every file here will be served. Copy the build again with its hidden files.`
}

/** Returns a warning for each unexpected difference from the earlier manifest. */
export function describeManifestChanges(
  earlier: Manifest | undefined,
  next: Manifest,
  isThere: (path: string) => boolean,
): string[] {
  if (earlier === undefined) return []
  const before = new Map(earlier.files.map((file) => [file.path, file]))
  const changed = next.files.filter(
    ({ path, cache }) => cache === 'revalidate' && before.get(path)?.cache === 'immutable',
  )
  // The server reads these files but never sends them.
  const added = next.files.filter(({ path }) => !before.has(path) && !servingFiles.has(path))
  const listed = new Set(next.files.map(({ path }) => path))
  // Without files that a flag excludes now. Scripts and styles change with every build.
  const gone = earlier.files.filter(
    ({ path, mediaType }) =>
      (servingFiles.has(path) || isPageType(mediaType)) && !listed.has(path) && !isThere(path),
  )
  return [
    ...(gone.length > 0
      ? [
          `${joinFirstNames(pathsOf(gone))} ${gone.length === 1 ? 'was' : 'were'} in the previous build and ${gone.length === 1 ? 'is' : 'are'} missing now. If a copy lost ${gone.length === 1 ? 'it' : 'them'}, copy the whole folder again.`,
        ]
      : []),
    ...(changed.length > 0
      ? [
          `${joinFirstNames(pathsOf(changed))} changed without a new hashed name. Browsers now revalidate instead of trusting their cache.`,
        ]
      : []),
    ...(added.length > 0
      ? [
          `${joinFirstNames(pathsOf(added))} ${added.length === 1 ? 'was' : 'were'} not in the previous build and will be served. Use --exclude to leave files out.`,
        ]
      : []),
  ]
}

/** Reads the manifest of a folder. Returns `undefined` if it is invalid: `finish` reports the problem. */
function readEarlierManifest(directory: string): Manifest | undefined {
  try {
    return parseManifest(readFileSync(join(directory, manifestPath), 'utf8'))
  } catch (error) {
    if (error instanceof OperatorError || (error instanceof Error && 'code' in error)) return undefined
    throw error
  }
}

function pathsOf(files: readonly { readonly path: string }[]): string[] {
  return files.map(({ path }) => path)
}
