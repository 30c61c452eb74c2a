import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import { manifestPath, OperatorError, shellWord } from '@serve-dist/manifest'
import { realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'
import {
  type ExpectedFile,
  expectInside,
  inspectFile,
  type KnownDigests,
  FileMismatchError,
  type Verification,
} from './inspect-file.ts'
import { retireFile } from './kept-file.ts'
import { createFolderOpener } from './open-inside.ts'
import { NotRegularError } from './open-regular-file.ts'
import { createBodyReader } from './read-body.ts'

/** Milliseconds of work between looks at the event loop: a server that reloads answers meanwhile. */
const longestSlice = 4

/** What is looked at besides existence and size. */
export interface Inspection {
  /** What is compared of files that are not held; of those that are, all bytes are. */
  readonly verify: Verification
  /** Those of the look before; afterwards of this one. */
  readonly digests: KnownDigests
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
  const { verify, streamed, kept, digests, cure } = inspection
  const known = new Map(digests)
  // What is not looked at now is forgotten.
  digests.clear()
  const readBody = createBodyReader()
  const opener = createFolderOpener(root)
  const take = (file: string, expected: ExpectedFile): StoredBytes | Promise<StoredBytes> =>
    streamed.has(expected)
      ? inspectFile(file, expected, { root, opener, verify, known, digests, isKept: kept.has(expected) })
      : readBody(file, expected)
  // Both are normal already; `join` would look at each character of 10,000 paths.
  const folder = root + sep
  let begun = performance.now()
  for (const expected of expectedFiles) {
    const { path, entry } = expected
    const file = folder + (sep === '/' ? path : path.replaceAll('/', sep))
    try {
      const found = take(file, expected)
      files.set(entry, found instanceof Promise ? await found : found)
    } catch (error) {
      try {
        files.set(entry, await take(followLink(root, file, error), expected))
      } catch (problem) {
        problems.push({ path, ...describeProblem(problem) })
      }
    }
    if (performance.now() - begun < longestSlice) continue
    await setImmediate()
    begun = performance.now()
  }
  opener.close()
  if (problems.length === 0) return files
  retireFiles(files.values())
  throw differing(root, problems, cure)
}

/**
 * The file that a link leads to.
 *
 * @throws Mismatch where that lies elsewhere, and the error of opening the path where that is no link.
 */
function followLink(root: string, path: string, error: unknown): string {
  if (!(error instanceof Error && 'code' in error && error.code === 'ELOOP')) throw error
  const file = realpathSync(path)
  expectInside(root, file)
  return file
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
  if (error instanceof FileMismatchError || error instanceof NotRegularError) {
    return { text: error.message, isUnreadable: false }
  }
  if (isNotFoundError(error)) return { text: 'is missing', isUnreadable: false }
  return { text: `cannot be read (${reasonOf(error)})`, isUnreadable: true }
}
