import { isoSeconds } from '@serve-dist/foundation/text/iso-seconds'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import {
  type KeptList,
  type ListedBuild,
  type ListedFile,
  loadOptional,
  type Manifest,
} from '@serve-dist/manifest'
import type { Retention } from '@serve-dist/store'
import { siteInvalid } from './site-errors.ts'

/** The limits of `serve-dist carry`. */
export interface CarryLimits {
  readonly retention: Partial<Retention>
  /** The current time in milliseconds since the epoch. */
  readonly now: number
}

/**
 * Selects the builds to carry by the limits of a store, and of each build the files that the new build lacks.
 *
 * @throws OperatorError `SD_SITE_INVALID` if the build that is replaced exceeds the limit of bytes.
 */
export async function selectBuilds(
  { builds }: KeptList,
  manifest: Manifest,
  { retention: given, now }: CarryLimits,
): Promise<readonly ListedBuild[]> {
  const { blobsOf, defaultRetention, keptGenerations, layoutVersion } = await loadOptional(
    { name: '@serve-dist/store', neededBy: 'serve-dist carry' },
    async () => await import('@serve-dist/store'),
  )
  const retention = { ...defaultRetention, ...given }
  const own = new Set(manifest.files.map(({ path }) => path))
  // The root has unhashed files such as a service worker. It counts only if it has hashed files, too.
  const folders = new Set(
    manifest.files
      .filter(({ path, cache }) => path.includes('/') || cache === 'immutable')
      .map(({ path }) => topFolder(path)),
  )
  const isWanted = ({ path }: Pick<ListedFile, 'path'>): boolean =>
    !own.has(path) && folders.has(topFolder(path))
  const found = builds
    .map(({ id, superseded, files }) => ({
      id,
      // A time in the future would keep the build forever.
      superseded: isoSeconds(superseded === undefined ? now : Math.min(Date.parse(superseded), now)),
      files: files.filter(isWanted),
    }))
    .filter(({ id, files }) => id !== manifest.buildId && files.length > 0)
  const replaced = found.map(({ id, superseded }) => ({ id, superseded, published: superseded, number: 0 }))
  const rows = [{ id: manifest.buildId, published: isoSeconds(now), number: 1 }, ...replaced]
  const ownBlobs = blobsOf(manifest)
  const sizes = new Map(ownBlobs.map(({ sha256, size }) => [sha256, size]))
  for (const { path, size, sha256, variants } of found.flatMap(({ files }) => files)) {
    if ([{ size, sha256 }, ...variants].some((blob) => (sizes.get(blob.sha256) ?? blob.size) !== blob.size))
      throw siteInvalid(`${path.slice(0, 200)}: the new build has another size for its digest.`)
  }
  const blobs = new Map([
    [manifest.buildId, ownBlobs],
    ...found.map(({ id, files }) => [id, files.flatMap((file) => [file, ...file.variants])] as const),
  ])
  const kept = keptGenerations({ version: layoutVersion, history: rows }, blobs, retention, now)
  if (kept.isAboveCap) {
    const limit = formatBytes(retention.bytes)
    throw siteInvalid(
      `the new build and the replaced one have ${formatBytes(kept.bytes)}, more than ${limit}. Pass a larger --keep-bytes.`,
    )
  }
  const ids = new Set(kept.ids)
  return found.filter(({ id }) => ids.has(id))
}

/**
 * Returns the first segment of a path. Carried files must be in a folder of the new build, so that the site cannot hide
 * its rules and proxied paths.
 */
function topFolder(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : ''
}
