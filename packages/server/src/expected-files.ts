import { type Manifest, variantPath } from '@serve-dist/manifest'
import type { ExpectedFile } from './inspect-file.ts'

/** Every file that the manifest names, variants among them. */
export function expectedFiles(manifest: Manifest): readonly ExpectedFile[] {
  const expected: ExpectedFile[] = []
  for (const file of manifest.files) {
    expected.push(file)
    for (const { coding, size, sha256 } of file.variants) {
      expected.push({ path: variantPath(file.path, coding), size, sha256 })
    }
  }
  return expected
}
