import type { Manifest } from '@serve-dist/manifest'
import { type FileKind, fileKindOf } from './file-kind.ts'
import { type Sizes, sizesOf, sumSizes } from './sizes.ts'

/** What the files of one kind weigh together; without a kind, all files of the build. */
export function sumOfKind(build: Manifest, kind?: FileKind): Sizes {
  const files = build.files.filter((file) => kind === undefined || fileKindOf(file) === kind)
  return sumSizes(files.map((file) => sizesOf(file, build)))
}
