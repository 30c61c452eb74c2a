import { type Manifest, stringifyManifest } from '@serve-dist/manifest'
import { digestOf } from '../folder/digest-of.ts'

/** The digest of everything that a manifest says, its times apart. */
export function buildIdOf(manifest: Manifest): string {
  const timeless: Manifest = {
    ...manifest,
    buildId: '',
    lastModified: '',
    files: manifest.files.map((file) => ({ ...file, lastModified: '' })),
  }
  return digestOf(stringifyManifest(timeless)).slice(0, 32)
}
