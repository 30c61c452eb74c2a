import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { pathProblem, stateDirectory } from '@serve-dist/manifest'
import picomatch from 'picomatch'
import { isMissing, reasonOf } from './file-error.ts'
import { PrecompressError } from '../precompress-error.ts'

/** A regular file of the build. */
export interface ListedFile {
  /** Relative to the folder, with `/` between segments, exactly as on the disk. */
  readonly path: string
  /** In bytes, when it was listed. */
  readonly size: number
}

/** Which files belong to the build: glob patterns relative to the folder. */
export interface FileSelection {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** Paths that are known to be variants of earlier passes: no files of the build, and not looked at. */
  readonly variants?: ReadonlyMap<string, unknown>
}

/**
 * Every regular file of the folder that can be served, in the manifest's order. Dotfiles are left out in
 * silence, everything else that cannot be served with a warning. A symlink to a file inside the folder
 * counts as that file, unless that is a variant; folders behind symlinks are not entered, so that no loop can form.
 */
export async function listFiles(
  folder: string,
  selection: FileSelection,
  warn: (message: string) => void,
): Promise<ListedFile[]> {
  const problems: string[] = []
  const paths = namesIn(folder, selection)
  const files = await Promise.all(
    paths.map(async (path): Promise<ListedFile[]> => {
      if (isHidden(path)) return []
      const problem = pathProblem(path)
      if (problem !== undefined) {
        warn(`${JSON.stringify(path)} is left out: ${problem}; rename it`)
        return []
      }
      try {
        const found = await inspect(folder, path, selection)
        if (typeof found !== 'string') return [{ path, size: found.size }]
        warn(`${path} is left out: ${found}`)
      } catch (error) {
        // Node puts U+FFFD in the place of bytes that are not UTF-8, and then finds no such file.
        if (isMissing(error) && path.includes('\uFFFD')) {
          warn(`${JSON.stringify(path)} is left out: its name is not UTF-8; rename it`)
          return []
        }
        problems.push(`${path}: cannot be looked at (${reasonOf(error)})`)
      }
      return []
    }),
  )
  if (problems.length > 0) throw new PrecompressError(problems)
  return files.flat().toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function namesIn(folder: string, { include, exclude, variants }: FileSelection): string[] {
  const isIncluded = matcherOf(include.filter((pattern) => !isNegative(pattern)))
  const isExcluded = matcherOf([
    ...include.filter(isNegative).map((pattern) => pattern.slice(1)),
    ...exclude,
    `${stateDirectory}/**`,
    '.vite/**',
  ])
  const names: string[] = []
  const walk = (inside: string): void => {
    // A symlink to a folder is no folder here, so that no loop can form.
    for (const entry of readdirSync(join(folder, inside), { withFileTypes: true })) {
      const path = inside + entry.name
      if (variants?.has(path) === true || isExcluded(path)) continue
      if (entry.isDirectory()) walk(`${path}/`)
      else if (isIncluded(path)) names.push(path)
    }
  }
  try {
    walk('')
  } catch (error) {
    throw new PrecompressError([`${folder}: cannot be listed (${reasonOf(error)})`], { cause: error })
  }
  return names
}

/** `!(a|b).js` is a pattern of its own. */
export function isNegative(pattern: string): boolean {
  return /^!(?!\()/.test(pattern)
}

/**
 * Dotfiles match too: `.well-known` is served, and the one rule for the others is `pathProblem`. So do line
 * feeds, which `pathProblem` warns of.
 */
function matcherOf(patterns: readonly string[]): (path: string) => boolean {
  return picomatch([...patterns], { dot: true, flags: 's' })
}

function isHidden(path: string): boolean {
  return path.split('/').some((segment) => segment.startsWith('.') && segment !== '.well-known')
}

/** What stands under the path, or why it cannot be served. */
async function inspect(folder: string, path: string, { variants }: FileSelection): Promise<Stats | string> {
  const absolute = join(folder, path)
  const found = lstatSync(absolute)
  if (found.isFile()) return found
  if (found.isSymbolicLink()) return await followLink(folder, absolute, variants)
  return 'it is not a regular file; remove it from the build'
}

async function followLink(
  folder: string,
  link: string,
  variants: FileSelection['variants'],
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
