import { type Manifest, variantPath } from '@serve-dist/manifest'
import type { ExpectedFile } from './inspect-file.ts'

/** Every file that the manifest names, variants among them. */
export function expectedFiles(manifest: Manifest): readonly ExpectedFile[] {
  return manifest.files.flatMap((file) => [
    file,
    ...file.variants.map(({ coding, size, sha256 }) => ({
      path: variantPath(file.path, coding),
      size,
      sha256,
    })),
  ])
}
