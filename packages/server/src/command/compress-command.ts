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
} from '@serve-dist/manifest'
import { createProgressLine } from '@serve-dist/foundation/terminal/create-progress-line'
import type { FinishReport } from '@serve-dist/precompress'
import type { CompressFlags } from './flags.ts'
import { servingFiles } from '../site/resolve-serving.ts'
import { refuseToCompress } from '../judge/refuse-unlikely-folder.ts'

/**
 * Compresses a folder, with a progress line on a terminal, and at the end what was known of hashed names and the table.
 * An earlier manifest, else the record of the build, decides where the build is served, what is hashed, which files
 * belong to it and by which rules, unless a flag says otherwise.
 */
export async function compressCommand(directory: string, flags: CompressFlags): Promise<void> {
  const neededBy = 'serve-dist compress'
  const { finish, unmatchedGlobs } = await loadOptional(
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
  // Whoever names globs knows what lies in the folder.
  const isChosen = (flags.include ?? flags.exclude ?? earlier?.selection?.include) !== undefined
  if (isFolder && !isChosen) refuseToCompress({ directory, root }, isDescribed)
  try {
    const pass = await finish(directory, {
      ...flags,
      onProgress: (progress) => progressLine.update(progress),
      onWarning: warn,
    })
    // A typing error publishes what it should leave out.
    const unmatched = await Promise.all(
      (['immutable', 'include', 'exclude'] as const).map(async (flag) =>
        (await unmatchedGlobs(directory, flags[flag] ?? [])).map((glob) => `--${flag} ${glob}`),
      ),
    )
    if (unmatched.flat().length > 0) warn(`${unmatched.flat().join(', ')}: no file in ${directory} matches`)
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

/** Where hashed names are known from, or what is lost without them and how to mend it. */
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
    const where = source === 'cache' ? ' (its record is in the cache: the folder has none)' : ''
    return `${known} from the build of ${localTime(new Date(recordedAt), now)}${where}`
  }
  const others = source === 'manifest' ? 'the earlier manifest' : 'other builds of this project'
  if (hashedNames > 0) return `${known} from ${others}; no record of a build of this folder found`
  const globs = manifest.serving?.immutable ?? []
  if (globs.length > 0) return `no record of a build found; immutable by your globs: ${globs.join(', ')}`
  return [
    'no record of a build found, so no file is immutable: browsers ask for each again at every visit.',
    `Build with @serve-dist/vite among the plugins or your framework's integration (${documentUrl('frameworks')}),`,
    "or name the files that have a content hash in their name: --immutable 'assets/**' (kept in the manifest)",
  ].join('\n')
}

/** `12:03` of today; of another day with its date. */
function localTime(time: Date, now: Date): string {
  const clock = time.toTimeString().slice(0, 5)
  // Sweden writes dates as ISO 8601 does.
  return time.toDateString() === now.toDateString() ? clock : `${time.toLocaleDateString('sv')} ${clock}`
}

/** One line for a folder that nothing describes, though variants say that a pass was here before. */
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
  return `${pluralize(compressed.length, 'file')} had variants already, such as ${first.path}: this looks like a build that has lost its manifest, and with it its rules and what it leaves out, so that every file here will be served; copy the build again with its hidden files`
}

/** What a pass changed in an earlier manifest, where the operator may not expect it. */
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
  // Rules of the server are no files that it sends.
  const added = next.files.filter(({ path }) => !before.has(path) && !servingFiles.has(path))
  const listed = new Set(next.files.map(({ path }) => path))
  // Not those that a flag leaves out now. Scripts and styles go with every build.
  const gone = earlier.files.filter(
    ({ path, mediaType }) =>
      (servingFiles.has(path) || isPageType(mediaType)) && !listed.has(path) && !isThere(path),
  )
  return [
    ...(gone.length > 0
      ? [
          `${joinFirstNames(pathsOf(gone))} ${gone.length === 1 ? 'was' : 'were'} part of the build before and ${gone.length === 1 ? 'is' : 'are'} not in the folder any more; if a copy lost ${gone.length === 1 ? 'it' : 'them'}, copy the whole folder again`,
        ]
      : []),
    ...(changed.length > 0
      ? [
          `${joinFirstNames(pathsOf(changed))} changed under a hashed name: no longer immutable, so that browsers ask again`,
        ]
      : []),
    ...(added.length > 0
      ? [
          `${joinFirstNames(pathsOf(added))} ${added.length === 1 ? 'was' : 'were'} not part of the build before and will be served; --exclude leaves files out`,
        ]
      : []),
  ]
}

/** The manifest of a folder, if it can be read: the pass reports what is wrong with it. */
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
