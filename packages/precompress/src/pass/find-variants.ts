import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import type { DescribedFile } from '../folder/describe-file.ts'
import { decodesToOriginal } from './decodes-to-original.ts'
import { decodedAtOnce, findCandidates } from './find-candidates.ts'

/**
 * The files that are variants of another: named like it with a coding's extension, and with its very bytes
 * once they are decoded. A variant of an earlier build, or anything else, is a file of its
 * own, with one warning for all.
 *
 * @returns their paths. Of `x.js`, `x.js.br` and `x.js.br.gz` the second: the third, of a variant, is a file.
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
        ? ': it is served as a file of its own'
        : ` (and ${rest} more such files): they are served as files of their own`
    onWarning(`${first.file.path} is not ${first.original.path} in ${first.coding}${end}`)
  }
  const isVariant = (path: string): boolean => {
    const original = originals.get(path)
    return original !== undefined && !isVariant(original)
  }
  return new Set([...originals.keys()].filter(isVariant))
}
