import { groupDigits } from '@serve-dist/foundation/text/group-digits'
import { documentUrl } from '@serve-dist/foundation/text/document-url'
import type { BuildComparison } from './compare-builds.ts'

/** The minimum number of scripts in which probably only names changed. */
const fewest = 3

/**
 * Suggests `build.chunkImportMap` if at least a quarter of the hashed scripts have new names and most of these have new bytes
 * but the old size. Such scripts usually contain only new names of imports, because hashes have a constant length. With
 * this option, scripts contain no names of files.
 */
export function suggestChunkImportMap({ files }: BuildComparison): string | undefined {
  const scripts = files.filter(({ kind, after }) => kind === 'js' && after?.stem !== undefined)
  const renamed = scripts.filter(({ before, after }) => before?.path !== after?.path)
  const ofOldSize = renamed.filter(
    ({ before, state, sizes }) => before !== undefined && state !== 'same' && sizes.identity.bytes === 0,
  )
  const isSuggested =
    ofOldSize.length >= fewest &&
    ofOldSize.length * 2 > renamed.length &&
    renamed.length * 4 >= scripts.length
  return isSuggested
    ? `${groupDigits(ofOldSize.length)} of ${groupDigits(renamed.length)} renamed scripts have their old size: probably only names of imports changed. Vite's build.chunkImportMap avoids this: ${documentUrl('deploys')}`
    : undefined
}
