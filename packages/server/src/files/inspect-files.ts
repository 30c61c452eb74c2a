import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { hasErrorCode, isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
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

/** Milliseconds of work between turns of the event loop, so that a reloading server keeps answering. */
const longestSlice = 4

/** Options of `inspectFiles`. */
export interface Inspection {
  /** The check of files that are not held in memory. Those in memory are compared completely. */
  readonly verify: Verification
  /** The digests of the last inspection; replaced by those of this one. */
  readonly digests: KnownDigests
  /** The files whose bodies are not held in memory. */
  readonly streamed: ReadonlySet<ExpectedFile>
  /** The streamed files that stay open. */
  readonly kept: ReadonlySet<ExpectedFile>
  /** The command that updates the manifest. */
  readonly cure: string
}

/**
 * Compares files with the manifest, reads the bodies to hold, and keeps files open. Bodies in memory are
 * compared by digest because hashes of equal length give two builds of a page the same size.
 *
 * @returns the files by their manifest entries. The caller must retire the files that stay open.
 * @throws OperatorError that lists each missing or different file; then no file stays open.
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
  // Keep only digests of files in this inspection.
  digests.clear()
  const readBody = createBodyReader()
  const opener = createFolderOpener(root)
  const take = (file: string, expected: ExpectedFile): StoredBytes | Promise<StoredBytes> =>
    streamed.has(expected)
      ? inspectFile(file, expected, { root, opener, verify, known, digests, isKept: kept.has(expected) })
      : readBody(file, expected)
  // Both paths are normalized. `join` would scan each character of 10,000 paths.
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
 * Returns the target of a link.
 *
 * @throws FileMismatchError for a target outside the folder, or the error of opening a path that is not a
 *   link.
 */
function followLink(root: string, path: string, error: unknown): string {
  if (!hasErrorCode(error, 'ELOOP')) throw error
  const file = realpathSync(path)
  expectInside(root, file)
  return file
}

interface FileProblem {
  readonly path: string
  readonly text: string
  /** Whether the system refused to open or read it. */
  readonly isUnreadable: boolean
}

/**
 * Reports the differences with their likely cause: permissions, writes after the build, or an incomplete
 * copy.
 */
function differing(root: string, problems: readonly FileProblem[], cure: string): OperatorError {
  const lines = problems.map(({ path, text }) => `  ${path}: ${text}`).toSorted()
  if (problems.every(({ isUnreadable }) => isUnreadable)) {
    const user = process.getuid === undefined ? 'this user' : `the user with the id ${process.getuid()}`
    const count = pluralize(problems.length, 'file')
    const problem = `${root}: ${user} cannot read ${count}. Make the folder readable: chmod -R a+rX`
    return new OperatorError('SD_FOLDER_UNREADABLE', [`${problem} ${shellWord(root)}`, ...lines])
  }
  const count = pluralize(problems.length, 'file differs', 'files differ')
  const newer = problems.filter(({ path }) => isNewer(root, path)).length
  const cause =
    newer === 0
      ? 'the copy is incomplete, or a program deleted files after the compression'
      : `a program wrote files after the compression (${newer} newer than the manifest)`
  return new OperatorError('SD_MANIFEST_MISMATCH', [
    `${root}: ${count} from the manifest, because ${cause}.`,
    `  Deploy the whole folder. Make this the last step of the build: ${cure}`,
    ...lines,
  ])
}

function isNewer(root: string, path: string): boolean {
  const timeOf = (file: string): number => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return timeOf(path) > timeOf(manifestPath)
}

/** Closes the open files of a build, each one after its last reader. */
export function retireFiles(files: Iterable<StoredBytes>): void {
  for (const stored of files) retireFile(stored)
}

function describeProblem(error: unknown): Omit<FileProblem, 'path'> {
  if (error instanceof FileMismatchError || error instanceof NotRegularError) {
    return { text: error.message, isUnreadable: false }
  }
  if (isNotFoundError(error)) return { text: 'is missing', isUnreadable: false }
  return { text: `cannot read this file (${reasonOf(error)})`, isUnreadable: true }
}
