import { isMissing, manifestPath, OperatorError, reasonOf, shellWord } from '@serve-dist/manifest'
import { statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'
import { type ExpectedFile, inspectFile, Mismatch } from './inspect-file.ts'
import { retireFile } from './kept-file.ts'
import { NotRegularError } from './open-regular-file.ts'
import { createBodyReader } from './read-body.ts'

/** Milliseconds of work between looks at the event loop: a server that reloads answers meanwhile. */
const longestSlice = 4

/** What is looked at besides existence and size. */
export interface Inspection {
  /** Whether the digest of every file is compared; of those that are held it always is. */
  readonly verify: 'size' | 'hash'
  /** The files whose bodies are not held in memory. */
  readonly streamed: ReadonlySet<ExpectedFile>
  /** Those of them that are kept open. */
  readonly kept: ReadonlySet<ExpectedFile>
  /** The command that makes the manifest say what lies in the folder. */
  readonly cure: string
}

/**
 * Compares files with the disk, reads the bodies that are to be held, and
 * keeps files open. Two builds of a page differ in hashes of equal length: what is held is compared byte
 * for byte, by digest.
 *
 * @returns the files by what the manifest says of them; who asked for files to be kept retires them.
 * @throws OperatorError that names each file which is missing or not what the manifest says; then none is kept.
 */
export async function inspectFiles(
  root: string,
  expectedFiles: readonly ExpectedFile[],
  inspection: Inspection,
): Promise<ReadonlyMap<ManifestEntry, StoredBytes>> {
  const problems: FileProblem[] = []
  const files = new Map<ManifestEntry, StoredBytes>()
  const { verify, streamed, kept, cure } = inspection
  const readBody = createBodyReader()
  // Both are normal already; `join` would look at each character of 10,000 paths.
  const folder = root + sep
  let begun = performance.now()
  for (const expected of expectedFiles) {
    const { path, entry } = expected
    const file = folder + (sep === '/' ? path : path.replaceAll('/', sep))
    try {
      const found = streamed.has(expected)
        ? inspectFile(file, expected, { isHashed: verify === 'hash', isKept: kept.has(expected) })
        : readBody(file, expected)
      files.set(entry, found instanceof Promise ? await found : found)
    } catch (error) {
      problems.push({ path, ...describeProblem(error) })
    }
    if (performance.now() - begun < longestSlice) continue
    await setImmediate()
    begun = performance.now()
  }
  if (problems.length === 0) return files
  retireFiles(files.values())
  throw differing(root, problems, cure)
}

interface FileProblem {
  readonly path: string
  readonly text: string
  /** Whether the system refused to open or to read it. */
  readonly isUnreadable: boolean
}

/** What mends it depends on who did it: the rights of a copy, a program that wrote after the build, or a partial copy. */
function differing(root: string, problems: readonly FileProblem[], cure: string): OperatorError {
  const one = problems.length === 1
  const lines = problems.map(({ path, text }) => `  ${path}: ${text}`).toSorted()
  if (problems.every(({ isUnreadable }) => isUnreadable)) {
    const user = process.getuid === undefined ? 'this user' : `the user with the id ${process.getuid()}`
    const count = one ? '1 file' : `${problems.length} files`
    const problem = `${root}: ${user} cannot read ${count}; give the right to: chmod -R a+rX`
    return new OperatorError('SD_FOLDER_UNREADABLE', [`${problem} ${shellWord(root)}`, ...lines])
  }
  const count = one ? '1 file is' : `${problems.length} files are`
  const newer = problems.filter(({ path }) => isNewer(root, path)).length
  const cause =
    newer === 0
      ? 'a part of the folder was copied, or something deleted files after the compression'
      : `something wrote after the compression (${newer} newer than the manifest)`
  return new OperatorError('SD_MANIFEST_MISMATCH', [
    `${root}: ${count} not what the manifest says: ${cause}`,
    `  Deploy the folder as a whole, and let this be the last step of the build: ${cure}`,
    ...lines,
  ])
}

function isNewer(root: string, path: string): boolean {
  const timeOf = (file: string): number => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return timeOf(path) > timeOf(manifestPath)
}

/** Closes what is kept open of a build, each file as soon as nobody reads from it. */
export function retireFiles(files: Iterable<StoredBytes>): void {
  for (const stored of files) retireFile(stored)
}

function describeProblem(error: unknown): Omit<FileProblem, 'path'> {
  if (error instanceof Mismatch || error instanceof NotRegularError) {
    return { text: error.message, isUnreadable: false }
  }
  if (isMissing(error)) return { text: 'is missing', isUnreadable: false }
  return { text: `cannot be read (${reasonOf(error)})`, isUnreadable: true }
}
