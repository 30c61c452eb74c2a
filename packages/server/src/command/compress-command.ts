import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, manifestPath, OperatorError, parseManifest } from '@serve-dist/manifest'
import type { PrecompressOptions } from '@serve-dist/precompress'
import type { CompressFlags } from './flags.ts'
import { loadOptional } from '../load-optional.ts'

/**
 * Compresses a folder, with a progress line on a terminal and the table at the end. An earlier manifest keeps deciding
 * where the build is served, what is hashed and by which rules, unless a flag says otherwise.
 */
export async function compressCommand(directory: string, flags: CompressFlags): Promise<void> {
  const neededBy = 'serve-dist compress'
  const { createProgressLine, precompress } = await loadOptional(
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
  const earlier = await readEarlierManifest(directory)
  try {
    const pass = await precompress(directory, {
      ...inheritOptions(earlier),
      ...flags,
      onProgress: (progress) => progressLine.update(progress),
      onWarning: warn,
    })
    for (const message of describeInheritance(earlier, pass.manifest)) warn(message)
    progressLine.clear()
    const colors = process.stdout.isTTY && process.stdout.hasColors()
    process.stdout.write(`${formatPass(pass, { colors })}\n`)
  } finally {
    progressLine.clear()
  }
}

/** What an earlier manifest knows, and a folder cannot tell by itself. */
export type InheritedOptions = Pick<
  PrecompressOptions,
  'base' | 'appType' | 'assetsDirectory' | 'serving' | 'isHashed' | 'linksOf'
>

/**
 * The options of a pass over a folder that the plugin or an earlier pass described. A name is hashed only for the very
 * bytes that it was hashed for.
 */
export function inheritOptions(earlier: Manifest | undefined): InheritedOptions {
  if (earlier === undefined) return {}
  const files = new Map(earlier.files.map((file) => [file.path, file]))
  return {
    base: earlier.base,
    appType: earlier.appType,
    assetsDirectory: earlier.assetsDirectory,
    ...(earlier.serving !== undefined && { serving: earlier.serving }),
    isHashed: (path, sha256) => {
      const file = files.get(path)
      return file?.cache === 'immutable' && file.sha256 === sha256
    },
    linksOf: (page, paths) => (files.get(page)?.links ?? []).filter(({ path }) => paths.has(path)),
  }
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
      ? [`${names(changed)} changed under a hashed name: no longer immutable, so that browsers ask again`]
      : []),
    ...(added.length > 0
      ? [`${names(added)} was not part of the build before and will be served; --exclude leaves files out`]
      : []),
  ]
}

/** The manifest of a folder, if it can be read: the pass reports what is wrong with it. */
export async function readEarlierManifest(directory: string): Promise<Manifest | undefined> {
  try {
    return parseManifest(await readFile(join(directory, manifestPath), 'utf8'))
  } catch (error) {
    if (error instanceof OperatorError || (error instanceof Error && 'code' in error)) return undefined
    throw error
  }
}

function names(files: readonly { readonly path: string }[]): string {
  const shown = files.slice(0, 3).map(({ path }) => path)
  return files.length > shown.length
    ? `${shown.join(', ')} and ${files.length - shown.length} more`
    : shown.join(', ')
}
