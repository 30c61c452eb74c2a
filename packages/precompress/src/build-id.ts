import { createHash } from 'node:crypto'
import { type Manifest, stringifyManifest } from '@serve-dist/manifest'

/** The digest of everything that a manifest says, its times apart. */
export function buildIdOf(manifest: Manifest): string {
  const timeless: Manifest = {
    ...manifest,
    buildId: '',
    lastModified: '',
    files: manifest.files.map((file) => ({ ...file, lastModified: '' })),
  }
  return createHash('sha256').update(stringifyManifest(timeless)).digest('hex').slice(0, 32)
}
