import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { OperatorError, variantPath } from '@serve-dist/manifest'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import type { CompressedFile } from './build-manifest.ts'
import { digestOfFile, isUnchanged, stampOf } from '../folder/describe-file.ts'
import type { FolderState } from './read-earlier-build.ts'

/**
 * Rejects a build if files changed while it was encoded, which may take minutes.
 *
 * The manifest would describe changed originals and variants wrongly. A new file with the name of a variant belongs to
 * the user.
 *
 * @throws OperatorError that names all these files.
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
    // A variant that is about to be replaced or removed may be gone.
    const { sha256 } = variant
    if (stamp === undefined ? next.get(path) !== sha256 : await holds(folder, path, sha256)) continue
    problems.push(changed(path))
  }
  for (const [path, sha256] of next) {
    await looked()
    if (earlier.variants.has(path) || stampAt(folder, path) === undefined) continue
    // A concurrent compression of the same folder may have written this variant already.
    if (await holds(folder, path, sha256)) continue
    problems.push(`${path}: another program created a file where a variant belongs. ${advice}`)
  }
  if (problems.length > 0) throw new OperatorError('SD_BUILD_CHANGED', problems.toSorted())
}

/** Yields to the event loop regularly, because 10,000 files and their variants take half a second. */
function countLooks(): () => Promise<void> {
  let looks = 0
  return async () => {
    looks += 1
    if (looks % 256 === 0) await nextTurn()
  }
}

const advice = 'Compress the folder after all other programs have written to it.'

function changed(path: string): string {
  return `${path}: the file changed during the compression. ${advice}`
}

async function holds(folder: string, path: string, sha256: string): Promise<boolean> {
  return (await digestOfFile(join(folder, path)))?.sha256 === sha256
}

/** Synchronous for speed, as in `describe-file.ts`. Each file has three variants. */
function stampAt(folder: string, path: string): string | undefined {
  try {
    const found = lstatSync(join(folder, path), { bigint: true, throwIfNoEntry: false })
    return found && stampOf(found)
  } catch (error) {
    // If a parent folder became a file, the variant has changed.
    return isNotFoundError(error) ? undefined : reasonOf(error)
  }
}
