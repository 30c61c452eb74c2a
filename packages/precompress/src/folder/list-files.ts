import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type fastGlobType from 'fast-glob'
import { join, posix, relative, resolve, sep } from 'node:path'
import { buildNotFound, OperatorError, pathProblem, stateDirectory } from '@serve-dist/manifest'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import { isNegatedPattern } from '@serve-dist/foundation/text/is-negated-pattern'

/** A regular file of the build. */
export interface ListedFile {
  /** Relative to the folder, with `/` between segments, exactly as on the disk. */
  readonly path: string
  /** In bytes, when it was listed. */
  readonly size: number
}

export interface ListOptions {
  /** Which files belong to the build; without them all do, and no library is loaded. */
  readonly patterns?: FilePatterns | undefined
  /** Paths that are known to be variants of earlier passes: no files of the build, and not looked at. */
  readonly variants?: ReadonlyMap<string, unknown>
  readonly warn: (message: string) => void
}

/** Glob patterns relative to the folder. */
export interface FilePatterns {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** State of tools, which is never served. */
const toolFolders = [stateDirectory, '.vite']

/**
 * The real, absolute path of a folder that is there.
 *
 * @throws {@link OperatorError} when it is not.
 */
export async function openFolder(directory: string): Promise<string> {
  const path = resolve(directory)
  try {
    if ((await stat(path)).isDirectory()) return await realpath(path)
  } catch (error) {
    throw buildNotFound(path, { cause: error })
  }
  throw new OperatorError('SD_BUILD_NOT_FOUND', [
    `${path}: not a folder; name the folder that the build wrote`,
  ])
}

/**
 * Every regular file of the folder that can be served, in the manifest's order. Dotfiles are left out in
 * silence, everything else that cannot be served with a warning. A symlink to a file inside the folder
 * counts as that file, unless that is a variant; folders behind symlinks are not entered, so that no loop can form.
 */
export async function listFiles(folder: string, options: ListOptions): Promise<ListedFile[]> {
  const { patterns, variants, warn } = options
  const names = await (patterns === undefined ? allNames(folder) : matchingNames(folder, patterns)).catch(
    (error: unknown) => {
      throw new OperatorError('SD_FOLDER_UNREADABLE', [`${folder}: cannot be listed (${reasonOf(error)})`], {
        cause: error,
      })
    },
  )
  const problems: string[] = []
  const files = await Promise.all(
    names.map(async (path): Promise<ListedFile[]> => {
      if (variants?.has(path) === true || isHidden(path)) return []
      const problem = pathProblem(path)
      if (problem !== undefined) {
        warn(`${JSON.stringify(path)} is left out: ${problem}; rename it`)
        return []
      }
      try {
        const found = await inspect(folder, path, variants)
        if (typeof found !== 'string') return [{ path, size: found.size }]
        warn(`${path} is left out: ${found}`)
      } catch (error) {
        // Node puts U+FFFD in the place of bytes that are not UTF-8, and then finds no such file.
        if (isNotFoundError(error) && path.includes('\uFFFD')) {
          warn(`${JSON.stringify(path)} is left out: its name is not UTF-8; rename it`)
          return []
        }
        problems.push(`${path}: cannot be looked at (${reasonOf(error)})`)
      }
      return []
    }),
  )
  if (problems.length > 0) throw new OperatorError('SD_FOLDER_UNREADABLE', problems)
  return files.flat().toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Everything that is no folder. */
async function allNames(folder: string): Promise<string[]> {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
}

/**
 * Names only: with `stats`, a single name that is not UTF-8 makes `fast-glob` answer an empty list. Dotfiles match too:
 * `.well-known` is served, and the one rule for the others is `pathProblem`.
 */
export async function matchingNames(folder: string, { include, exclude }: FilePatterns): Promise<string[]> {
  // It takes 60 ms of CPU to load. By `import()`, Node 22.23 gives a module without functions beside some other loading.
  const fastGlob: typeof fastGlobType = createRequire(import.meta.url)('fast-glob')
  // A name matches itself, whatever `(1)` in it would mean as a pattern.
  const withNames = (patterns: readonly string[]): string[] =>
    patterns.flatMap((pattern) => [pattern, fastGlob.escapePath(pattern)])
  const included = withNames(include.filter((pattern) => !isNegatedPattern(pattern)))
  const excluded = withNames([
    ...exclude,
    ...include.filter(isNegatedPattern).map((pattern) => pattern.slice(1)),
  ])
  // `**` matches no line feed, which `pathProblem` warns of.
  const withLineFeeds = included
    .filter((pattern) => pattern.endsWith('**'))
    .map((pattern) => `${pattern}/*\n*`)
  const names = fastGlob.sync([...included, ...withLineFeeds], {
    cwd: folder,
    dot: true,
    followSymbolicLinks: false,
    // Symlinks and whatever else is no file are warned of.
    onlyFiles: false,
    markDirectories: true,
    fs: { readdirSync: namesIn },
    // A folder that a pattern names is walked even if a pattern excludes it: each file must match.
    ignore: [...excluded, ...toolFolders].flatMap((pattern) => [pattern, `${pattern}/**`]),
  })
  const linkBefore = createLinkSearch(folder)
  const paths = names
    .filter((name) => !name.endsWith('/') || isUnreadable(folder, name))
    .map((name) => posix.join(name, '.'))
  return [...new Set(paths.map((path) => linkBefore(path) ?? path))]
}

/** Those of the patterns that match no file of a folder; with or without `!` before them. */
export async function unmatchedGlobs(folder: string, patterns: readonly string[]): Promise<string[]> {
  const unmatched: string[] = []
  for (const pattern of patterns) {
    const plain = isNegatedPattern(pattern) ? pattern.slice(1) : pattern
    // What names a folder means what is in it, too.
    const names = await matchingNames(folder, { include: [plain, `${plain}/**`], exclude: [] })
    if (names.length === 0) unmatched.push(pattern)
  }
  return unmatched
}

/** The names in a folder; none in a file, which a pattern such as `assets/**` may take for a folder. */
function namesIn(path: string): string[]
function namesIn(path: string, options: { withFileTypes: true }): Dirent[]
function namesIn(path: string, options?: { withFileTypes: true }): string[] | Dirent[] {
  try {
    return options === undefined ? readdirSync(path) : readdirSync(path, options)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return []
    throw error
  }
}

/** Whether a folder's name keeps `fast-glob` from the files in it, which it does not say. */
function isUnreadable(folder: string, name: string): boolean {
  if (name.includes('\n')) return true
  return name.includes('\uFFFD') && lstatSync(join(folder, name), { throwIfNoEntry: false }) === undefined
}

/**
 * Answers the symlink that a path leads through, if any: a pattern that begins with the name of one is followed, and a
 * variant of ours never lies behind one.
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

/** What stands under the path, or why it cannot be served. */
async function inspect(
  folder: string,
  path: string,
  variants: ListOptions['variants'],
): Promise<Stats | string> {
  const absolute = join(folder, path)
  const found = lstatSync(absolute)
  if (found.isFile()) return found
  if (found.isSymbolicLink()) return await followLink(folder, absolute, variants)
  return 'it is not a regular file; remove it from the build'
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
    return `it is a symlink that leads nowhere (${reasonOf(error)}); remove or mend it`
  }
  const inside = relative(folder, target).split(sep).join('/')
  const found = await stat(target)
  if (found.isDirectory()) return 'it is a symlink to a folder; copy the folder into the build'
  if (inside.startsWith('../') || pathProblem(inside) !== undefined) {
    return 'it is a symlink to a file that is not part of the build; copy the file into the build'
  }
  // This pass may replace or remove it.
  if (variants?.has(inside) === true) return 'it is a symlink to a variant; link to its original, or copy it'
  return found.isFile() ? found : 'it is a symlink to something that is not a regular file; remove it'
}
