import type { ManifestFile } from '@serve-dist/manifest'
import { type Coding, codings } from './sizes.ts'

/** The codings that some of the files have, identity first. */
export function codingsOf(files: readonly (ManifestFile | undefined)[]): Coding[] {
  const found = new Set<Coding>(['identity'])
  for (const file of files) for (const { coding } of file?.variants ?? []) found.add(coding)
  return codings.filter((coding) => found.has(coding))
}
