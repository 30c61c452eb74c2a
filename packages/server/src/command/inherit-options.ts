import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError, type Manifest, manifestPath, parseManifest } from '@serve-dist/manifest'
import type { PrecompressOptions } from '@serve-dist/precompress'

/** What a manifest that is there knows, and a folder cannot tell by itself. */
export type InheritedOptions = Pick<
  PrecompressOptions,
  'base' | 'appType' | 'assetsDirectory' | 'serving' | 'isHashed' | 'linksOf'
>

/**
 * The options of a pass over a folder that was described before, by the plugin or by an earlier pass. A
 * name is hashed only for the very bytes that it was hashed for.
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

/** What a pass made of a manifest that was there, where the operator may not expect it. */
export function describeInheritance(earlier: Manifest | undefined, next: Manifest): string[] {
  if (earlier === undefined) return []
  const before = new Map(earlier.files.map((file) => [file.path, file]))
  const changed = next.files.filter(
    ({ path, cache }) => cache === 'revalidate' && before.get(path)?.cache === 'immutable',
  )
  const added = next.files.filter(({ path }) => !before.has(path))
  return [
    ...(changed.length > 0
      ? [`${names(changed)} changed under a hashed name: not immutable any more, so that browsers ask again`]
      : []),
    ...(added.length > 0
      ? [
          `${names(added)} was not part of the build before and is served from now on; --exclude leaves files out`,
        ]
      : []),
  ]
}

/** The manifest of a folder; one that cannot be read is the pass's to tell of. */
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
