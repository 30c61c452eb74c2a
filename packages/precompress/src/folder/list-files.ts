import { type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type fastGlobType from 'fast-glob'
import type { FileSystemAdapter } from 'fast-glob'
import { join, posix, relative, resolve, sep } from 'node:path'
import { buildNotFound, OperatorError, pathProblem, stateDirectory } from '@serve-dist/manifest'
import { hasErrorCode, isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import { isNegatedPattern } from '@serve-dist/foundation/text/is-negated-pattern'

/** A regular file of the build. */
export interface ListedFile {
  /** Relative to the folder, with `/` between segments, exactly as on the disk. */
  readonly path: string
  /** Size in bytes when the file was listed. */
  readonly size: number
}

export interface ListOptions {
  /** Files that belong to the build. Without patterns, all files belong to it and `fast-glob` is not loaded. */
  readonly patterns?: FilePatterns | undefined
  /** Variants of earlier compressions by path. They are not listed or examined. */
  readonly variants?: ReadonlyMap<string, unknown>
  readonly warn: (message: string) => void
}

/** Glob patterns relative to the folder. */
export interface FilePatterns {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** Folders with state of tools, which are never served. */
const toolFolders = [stateDirectory, '.vite']

/**
 * Returns the real, absolute path of a folder.
 *
 * @throws {@link OperatorError} if the folder does not exist.
 */
export async function openFolder(directory: string): Promise<string> {
  const path = resolve(directory)
  try {
    if ((await stat(path)).isDirectory()) return await realpath(path)
  } catch (error) {
    throw buildNotFound(path, { cause: error })
  }
  throw new OperatorError('SD_BUILD_NOT_FOUND', [
    `${path}: this is not a folder. Name the folder that the build wrote.`,
  ])
}

/**
 * Lists all regular files that can be served, in the manifest's order.
 *
 * Omits dotfiles without a warning, and other files that cannot be served with one. A symlink to a file of the folder
 * counts as that file. Folders behind symlinks are skipped, so that no loop can form.
 */
export async function listFiles(folder: string, options: ListOptions): Promise<ListedFile[]> {
  const { patterns, variants, warn } = options
  const names = await (patterns === undefined ? allNames(folder) : matchingNames(folder, patterns)).catch(
    (error: unknown) => {
      // The error can concern a subfolder.
      const place = error instanceof Error && 'path' in error ? String(error.path) : folder
      const problem = `${place}: cannot list this folder (${reasonOf(error)}). Let this user read it.`
      throw new OperatorError('SD_FOLDER_UNREADABLE', problem, { cause: error })
    },
  )
  const problems: string[] = []
  const files = await Promise.all(
    names.map(async (path): Promise<ListedFile[]> => {
      if (variants?.has(path) === true || isHidden(path)) return []
      const problem = pathProblem(path)
      if (problem !== undefined) {
        warn(`cannot include ${JSON.stringify(path)}: ${problem}. Rename it.`)
        return []
      }
      try {
        const found = await inspect(folder, path, variants)
        if (typeof found !== 'string') return [{ path, size: found.size }]
        warn(`cannot include ${path}: ${found}`)
      } catch (error) {
        // Node replaces bytes that are not UTF-8 by U+FFFD, and then does not find the file.
        if (isNotFoundError(error) && path.includes('\uFFFD')) {
          warn(`cannot include ${JSON.stringify(path)}: its name is not UTF-8. Rename it.`)
          return []
        }
        problems.push(`${path}: cannot read this file (${reasonOf(error)}). Let this user read it.`)
      }
      return []
    }),
  )
  if (problems.length > 0) throw new OperatorError('SD_FOLDER_UNREADABLE', problems)
  return files.flat().toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Returns the names of everything except folders. */
async function allNames(folder: string): Promise<string[]> {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
}

/**
 * Lists names only, because with `stats` one name that is not UTF-8 makes `fast-glob` return an empty list. Dotfiles
 * match too: `pathProblem` decides which of them are served.
 */
export async function matchingNames(folder: string, { include, exclude }: FilePatterns): Promise<string[]> {
  // Load on demand, because it takes 60 ms of CPU. `import()` fails on Node 22.23 if other modules load concurrently.
  const fastGlob: typeof fastGlobType = createRequire(import.meta.url)('fast-glob')
  // A name matches itself, even if `(1)` in it has a meaning as a pattern.
  const withNames = (patterns: readonly string[]): string[] =>
    patterns.flatMap((pattern) => [pattern, fastGlob.escapePath(pattern)])
  const included = withNames(include.filter((pattern) => !isNegatedPattern(pattern)))
  const excluded = withNames([
    ...exclude,
    ...include.filter(isNegatedPattern).map((pattern) => pattern.slice(1)),
  ])
  // `**` does not match line feeds. List such names too, because `pathProblem` warns about them.
  const withLineFeeds = included
    .filter((pattern) => pattern.endsWith('**'))
    .map((pattern) => `${pattern}/*\n*`)
  // `fast-glob` converts backslashes in `cwd`, which are letters of a name on Linux.
  const hasDrives = sep === '\\'
  const names = fastGlob.sync([...included, ...withLineFeeds], {
    cwd: hasDrives ? folder : '/',
    dot: true,
    followSymbolicLinks: false,
    // Include symlinks and special files, because the caller warns about them.
    onlyFiles: false,
    markDirectories: true,
    fs: folderAsRoot(hasDrives ? '' : folder),
    // `fast-glob` enters a folder of a pattern even if another pattern excludes it, so exclude its files too.
    ignore: [...excluded, ...toolFolders].flatMap((pattern) => [pattern, `${pattern}/**`]),
  })
  const linkBefore = createLinkSearch(folder)
  const paths = names
    .filter((name) => !name.endsWith('/') || isUnreadable(folder, name))
    .map((name) => posix.join(name, '.'))
  return [...new Set(paths.map((path) => linkBefore(path) ?? path))]
}

/** Shows `fast-glob` the folder as its root. */
function folderAsRoot(folder: string): Pick<FileSystemAdapter, 'lstatSync' | 'readdirSync' | 'statSync'> {
  /** Returns no names for a file, because a pattern such as `assets/**` may name a file. */
  function readdir(path: string): string[]
  function readdir(path: string, options: { withFileTypes: true }): Dirent[]
  function readdir(path: string, options?: { withFileTypes: true }): string[] | Dirent[] {
    const place = join(folder, path)
    try {
      return options === undefined ? readdirSync(place) : readdirSync(place, options)
    } catch (error) {
      if (hasErrorCode(error, 'ENOTDIR')) return []
      throw error
    }
  }
  return {
    readdirSync: readdir,
    lstatSync: (path) => lstatSync(join(folder, path)),
    statSync: (path) => statSync(join(folder, path)),
  }
}

/** Returns whether `fast-glob` silently skips the files of a folder because of its name. */
function isUnreadable(folder: string, name: string): boolean {
  if (name.includes('\n')) return true
  return name.includes('\uFFFD') && lstatSync(join(folder, name), { throwIfNoEntry: false }) === undefined
}

/**
 * Creates a function that returns the first symlink on the way to a path. Patterns can lead through symlinks, and
 * variants are never behind one.
 */
export function createLinkSearch(folder: string): (path: string) => string | undefined {
  const known = new Map<string, string | undefined>([['.', undefined]])
  const find = (path: string): string | undefined => {
    const parent = posix.dirname(path)
    if (!known.has(parent)) {
      known.set(parent, find(parent) ?? (isLink(join(folder, parent)) ? parent : undefined))
    }
    return known.get(parent)
  }
  return find
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false
  }
}

function isHidden(path: string): boolean {
  return path.split('/').some((segment) => segment.startsWith('.') && segment !== '.well-known')
}

/** Returns the file's status, or the reason why it cannot be served. */
async function inspect(
  folder: string,
  path: string,
  variants: ListOptions['variants'],
): Promise<Stats | string> {
  const absolute = join(folder, path)
  const found = lstatSync(absolute)
  if (found.isFile()) return found
  if (found.isSymbolicLink()) return await followLink(folder, absolute, variants)
  return 'it is not a regular file. Remove it from the build.'
}

async function followLink(
  folder: string,
  link: string,
  variants: ListOptions['variants'],
): Promise<Stats | string> {
  let target: string
  try {
    target = await realpath(link)
  } catch (error) {
    return `it is a symlink without a target (${reasonOf(error)}). Fix or remove the symlink.`
  }
  const inside = relative(folder, target).split(sep).join('/')
  const found = await stat(target)
  if (found.isDirectory()) return 'it is a symlink to a folder. Copy the folder into the build.'
  if (inside.startsWith('../') || pathProblem(inside) !== undefined) {
    return 'it is a symlink to a file outside the build. Copy the file into the build.'
  }
  // The compression may replace or remove the variant.
  if (variants?.has(inside) === true)
    return 'it is a symlink to a variant. Link to the original, or copy the file.'
  return found.isFile() ? found : 'it is a symlink to a special file. Remove it.'
}
