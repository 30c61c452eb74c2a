import { type Manifest, variantPath } from '@serve-dist/manifest'
import type { ExpectedFile } from '../files/inspect-file.ts'

/** Every file that the manifest describes, variants among them. */
export function expectedFiles(manifest: Manifest): readonly ExpectedFile[] {
  const expected: ExpectedFile[] = []
  for (const file of manifest.files) {
    const { path, size, sha256 } = file
    expected.push({ path, size, sha256, entry: file })
    for (const variant of file.variants) {
      expected.push({
        path: variantPath(path, variant.coding),
        size: variant.size,
        sha256: variant.sha256,
        entry: variant,
      })
    }
  }
  return expected
}
