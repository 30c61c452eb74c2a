import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, manifestPath, OperatorError, parseManifest } from '@serve-dist/manifest'
import type { FinishReport } from '@serve-dist/precompress'
import type { CompressFlags } from './flags.ts'
import { loadOptional } from '../load-optional.ts'

/**
 * Compresses a folder, with a progress line on a terminal, and at the end what was known of hashed names and the table.
 * An earlier manifest, else the record of the build, decides where the build is served, what is hashed, which files
 * belong to it and by which rules, unless a flag says otherwise.
 */
export async function compressCommand(directory: string, flags: CompressFlags): Promise<void> {
  const neededBy = 'serve-dist compress'
  const { createProgressLine, finish, unmatchedGlobs } = await loadOptional(
    { name: '@serve-dist/precompress', neededBy },
    async () => await import('@serve-dist/precompress'),
  )
  const { formatPass } = await loadOptional(
    { name: '@serve-dist/report', neededBy },
    async () => await import('@serve-dist/report'),
  )
  const progressLine = createProgressLine(process.stderr)
  const warn = (message: string): void => {
    progressLine.clear()
    process.stderr.write(`serve-dist: warning: ${message}\n`)
  }
  const earlier = readEarlierManifest(directory)
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
    for (const message of describeInheritance(earlier, pass.manifest)) warn(message)
    progressLine.clear()
    const colors = process.stdout.isTTY && process.stdout.hasColors()
    process.stdout.write(`${describeKnowledge(pass)}\n${formatPass(pass, { colors })}\n`)
  } finally {
    progressLine.clear()
  }
}

/** Where hashed names are known from, or what is lost without them and how to mend it. */
export function describeKnowledge(
  {
    source,
    recordedAt,
    hashedNames,
    manifest,
  }: Pick<FinishReport, 'source' | 'recordedAt' | 'hashedNames' | 'manifest'>,
  now: Date = new Date(),
): string {
  const count = `${hashedNames} hashed ${hashedNames === 1 ? 'name' : 'names'} known`
  if (recordedAt !== undefined) {
    const where = source === 'cache' ? ' (its record is in the cache: the folder has none)' : ''
    return `${count} from the build of ${localTime(new Date(recordedAt), now)}${where}`
  }
  const others = source === 'manifest' ? 'the earlier manifest' : 'other builds of this project'
  if (hashedNames > 0) return `${count} from ${others}; no record of a build of this folder found`
  const globs = manifest.serving?.immutable ?? []
  if (globs.length > 0) return `no record of a build found; immutable by your globs: ${globs.join(', ')}`
  return [
    'no record of a build found, so no file is immutable: browsers ask for each again at every visit.',
    'Build with @serve-dist/vite among the plugins, or name the files that have a content hash in their name:',
    "--immutable 'assets/**' (kept in the manifest)",
  ].join('\n')
}

/** `12:03` of today; of another day with its date. */
function localTime(time: Date, now: Date): string {
  const clock = time.toTimeString().slice(0, 5)
  // Sweden writes dates as ISO 8601 does.
  return time.toDateString() === now.toDateString() ? clock : `${time.toLocaleDateString('sv')} ${clock}`
}

/** What a pass changed in an earlier manifest, where the operator may not expect it. */
export function describeInheritance(earlier: Manifest | undefined, next: Manifest): string[] {
  if (earlier === undefined) return []
  const before = new Map(earlier.files.map((file) => [file.path, file]))
  const changed = next.files.filter(
    ({ path, cache }) => cache === 'revalidate' && before.get(path)?.cache === 'immutable',
  )
  const added = next.files.filter(({ path }) => !before.has(path))
  return [
    ...(changed.length > 0
      ? [`${listNames(changed)} changed under a hashed name: no longer immutable, so that browsers ask again`]
      : []),
    ...(added.length > 0
      ? [
          `${listNames(added)} was not part of the build before and will be served; --exclude leaves files out`,
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

function listNames(files: readonly { readonly path: string }[]): string {
  const shown = files.slice(0, 3).map(({ path }) => path)
  return files.length > shown.length
    ? `${shown.join(', ')} and ${files.length - shown.length} more`
    : shown.join(', ')
}
