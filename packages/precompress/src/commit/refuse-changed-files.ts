import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { OperatorError, variantPath } from '@serve-dist/manifest'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import type { CompressedFile } from './build-manifest.ts'
import { digestOfFile, isUnchanged, stampOf } from '../folder/describe-file.ts'
import type { FolderState } from './read-earlier-build.ts'

/**
 * Encoding may take minutes. An original or a variant in its place that was written meanwhile would belie the
 * manifest; a file that came where a variant goes, or replaced one of ours, is the user's own.
 *
 * @throws OperatorError that names every such file.
 */
export async function refuseChangedFiles(
  folder: string,
  files: readonly CompressedFile[],
  earlier: FolderState,
): Promise<void> {
  const problems: string[] = []
  const looked = countLooks()
  for (const { file } of files) {
    await looked()
    if (!(await isUnchanged(folder, file))) problems.push(changed(file.path))
  }
  const next = new Map(
    files.flatMap(({ file, variants }) =>
      variants.map(({ coding, sha256 }): [string, string] => [variantPath(file.path, coding), sha256]),
    ),
  )
  for (const [path, variant] of earlier.variants) {
    await looked()
    const stamp = stampAt(folder, path)
    if (stamp === variant.stamp) continue
    // One that is about to be replaced or removed may be gone.
    const { sha256 } = variant
    if (stamp === undefined ? next.get(path) !== sha256 : await holds(folder, path, sha256)) continue
    problems.push(changed(path))
  }
  for (const [path, sha256] of next) {
    await looked()
    if (earlier.variants.has(path) || stampAt(folder, path) === undefined) continue
    // Another pass over the same folder, of another environment, may have been quicker.
    if (await holds(folder, path, sha256)) continue
    problems.push(`${path}: came during the pass, where a variant would go; ${advice}`)
  }
  if (problems.length > 0) throw new OperatorError('SD_BUILD_CHANGED', problems.toSorted())
}

/** Now and then others get their turn: 10,000 files and their variants take half a second. */
function countLooks(): () => Promise<void> {
  let looks = 0
  return async () => {
    looks += 1
    if (looks % 256 === 0) await nextTurn()
  }
}

const advice = 'run it after everything else that writes'

function changed(path: string): string {
  return `${path}: changed during the pass; ${advice}`
}

async function holds(folder: string, path: string, sha256: string): Promise<boolean> {
  return (await digestOfFile(join(folder, path)))?.sha256 === sha256
}

/** Not asynchronous, as in `describe-file.ts`: there are three variants of each file. */
function stampAt(folder: string, path: string): string | undefined {
  try {
    const found = lstatSync(join(folder, path), { bigint: true, throwIfNoEntry: false })
    return found && stampOf(found)
  } catch (error) {
    // Something else stands in the way now.
    return isNotFoundError(error) ? undefined : reasonOf(error)
  }
}
