import { type Manifest, variantPath } from '@serve-dist/manifest'
import { buildIdOf } from './build-id.ts'
import type { VariantClaim } from './journal.ts'

/** The next build with only the variants that are in place already: whole, and true at once. */
export function interimManifest(next: Manifest, isInPlace: (claim: VariantClaim) => boolean): Manifest {
  const files = next.files.map((file) =>
    Object.assign({}, file, {
      variants: file.variants.filter(({ coding, sha256 }) =>
        isInPlace({ path: variantPath(file.path, coding), sha256 }),
      ),
    }),
  )
  const interim = { ...next, files }
  return { ...interim, buildId: buildIdOf(interim) }
}
