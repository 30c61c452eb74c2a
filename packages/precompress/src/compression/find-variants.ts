import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import type { DescribedFile } from '../folder/describe-file.ts'
import { decodesToOriginal } from './decodes-to-original.ts'
import { decodedAtOnce, findCandidates } from './find-candidates.ts'

/**
 * Finds the files that are variants: a file's name plus a coding's extension, and content that decodes to that file.
 * Warns once about all other files with such names.
 *
 * @returns the paths of variants. Of `x.js`, `x.js.br` and `x.js.br.gz` only the second, because a variant has no
 * variants.
 */
export async function findVariants(
  folder: string,
  files: ReadonlyMap<string, DescribedFile>,
  onWarning: (message: string) => void,
): Promise<ReadonlySet<string>> {
  const candidates = findCandidates(files)
  const originals = new Map<string, string>()
  await forEachConcurrently(candidates, decodedAtOnce, async (candidate) => {
    const { file, original } = candidate
    if (await decodesToOriginal(folder, candidate)) originals.set(file.path, original.path)
  })
  const strangers = candidates.filter(({ file }) => !originals.has(file.path))
  const [first] = strangers
  if (first !== undefined) {
    const rest = strangers.length - 1
    const end =
      rest === 0
        ? '. The server sends it under its own name.'
        : ` (and ${rest} more such files). The server sends these files under their own names.`
    onWarning(`${first.file.path} is not a valid ${first.coding} variant of ${first.original.path}${end}`)
  }
  const isVariant = (path: string): boolean => {
    const original = originals.get(path)
    return original !== undefined && !isVariant(original)
  }
  return new Set([...originals.keys()].filter(isVariant))
}
