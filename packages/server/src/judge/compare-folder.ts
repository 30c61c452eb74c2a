import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import {
  contentCodings,
  type Manifest,
  manifestPath,
  pathProblem,
  pendingPath,
  recordPath,
  type Selection,
  variantPath,
} from '@serve-dist/manifest'
import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { isNegatedPattern } from '@serve-dist/foundation/text/is-negated-pattern'
import { readingFlags } from '../files/open-regular-file.ts'
import { globMatcherOf } from '../site/field-rules.ts'

/** The part of a manifest that is compared. */
export type ListedFiles = Pick<Manifest, 'files' | 'selection'>

/** The differences between a folder and its manifest, as sorted relative paths. */
export interface FolderDifferences {
  /** Files that were added after the compression and would be listed. */
  readonly unlisted: readonly string[]
  /** Listed files and variants that the folder lacks. */
  readonly missing: readonly string[]
  /** Listed files and variants with other bytes. */
  readonly changed: readonly string[]
}

/**
 * Compares the folder of a build with its manifest. It is synchronous, so that listeners for the end of a process can
 * call it. It reads only files that have the listed size and are newer than the manifest.
 *
 * @param root - the folder, without a symlink as its last segment.
 */
export function compareFolder(root: string, manifest: ListedFiles): FolderDifferences {
  const written = statSync(join(root, manifestPath), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const missing: string[] = []
  const changed: string[] = []
  for (const [path, { size, sha256 }] of entriesOf(manifest)) {
    const file = join(root, path)
    try {
      const stats = statSync(file)
      const isOlder = stats.mtimeMs < written && stats.ctimeMs < written
      if (!stats.isFile() || stats.size !== size || (!isOlder && digestOf(file) !== sha256))
        changed.push(path)
    } catch (error) {
      ;(isNotFoundError(error) ? missing : changed).push(path)
    }
  }
  return { unlisted: findUnlisted(root, manifest), missing: missing.toSorted(), changed: changed.toSorted() }
}

/** Whether a file exists and its bytes differ from the manifest. */
export function isChanged(root: string, { path, size, sha256 }: Entry & { readonly path: string }): boolean {
  const file = join(root, path)
  try {
    const stats = statSync(file)
    return !stats.isFile() || stats.size !== size || digestOf(file) !== sha256
  } catch (error) {
    return !isNotFoundError(error)
  }
}

/**
 * Returns the files of a folder that the manifest should list but does not. It skips excluded files, hidden files, names
 * that a URL cannot contain, symlinks to other folders, and server outputs.
 */
export function findUnlisted(root: string, manifest: ListedFiles): readonly string[] {
  const listed = namesByFolder(manifest)
  const isSelected = selectionOf(manifest.selection)
  // A compression is running or was interrupted. Its variants are not listed yet.
  const isPending = existsSync(join(root, pendingPath))
  const unlisted: string[] = []
  const walk = (folder: string): void => {
    const known = listed.get(folder) ?? new Set()
    for (const name of namesIn(join(root, folder))) {
      if (known.has(name) || (name.startsWith('.') && name !== '.well-known')) continue
      const path = folder === '' ? name : `${folder}/${name}`
      if (listed.has(path)) walk(path)
      else if (pathProblem(path) === undefined && !(isPending && isVariantName(name, known))) look(path)
    }
  }
  const look = (path: string): void => {
    const kind = kindOf(root, path)
    if (kind === 'folder' && !isServerOutput(join(root, path))) walk(path)
    if (kind === 'file' && isSelected(path)) unlisted.push(path)
  }
  walk('')
  return unlisted.toSorted()
}

type Entry = Pick<Manifest['files'][number], 'size' | 'sha256'>

/** Returns all files and variants of a manifest, without the file that the server generates. */
function entriesOf({ files }: ListedFiles): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const file of files) {
    if (file.runtime === true) continue
    entries.set(file.path, file)
    for (const variant of file.variants) entries.set(variantPath(file.path, variant.coding), variant)
  }
  return entries
}

/** Returns the listed names by folder, with parent folders and variants. */
function namesByFolder({ files }: ListedFiles): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>()
  const readNames = (folder: string): Set<string> => {
    const known = folders.get(folder)
    if (known !== undefined) return known
    const names = new Set<string>()
    folders.set(folder, names)
    if (folder !== '') readNames(folder.slice(0, Math.max(folder.lastIndexOf('/'), 0)))
    return names
  }
  for (const { path, variants } of files) {
    const end = path.lastIndexOf('/')
    const names = readNames(path.slice(0, Math.max(end, 0)))
    const name = path.slice(end + 1)
    names.add(name)
    for (const { coding } of variants) names.add(variantPath(name, coding))
  }
  return folders
}

/** Selects like the compression: a name matches itself, and an excluded folder excludes its content. */
export function selectionOf({ include = ['**'], exclude = [] }: Selection = {}): (path: string) => boolean {
  const negative = include.filter(isNegatedPattern)
  const included = include.filter((glob) => !negative.includes(glob))
  const excluded = [...exclude, ...negative.map((glob) => glob.slice(1))].flatMap((glob) => [
    glob,
    `${glob}/**`,
  ])
  return (path) => isMatched(included, path) && !isMatched(excluded, path)
}

function isMatched(globs: readonly string[], path: string): boolean {
  return globs.some((glob) => glob === '**' || glob === path || globMatcherOf(glob)(path))
}

/** Returns no names for an unreadable folder, such as `lost+found` of a volume. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isVariantName(name: string, listed: ReadonlySet<string>): boolean {
  return contentCodings.some(
    ({ extension }) => name.endsWith(extension) && listed.has(name.slice(0, -extension.length)),
  )
}

/** Returns the kind of an entry. A symlink counts as its target file in the build; symlinks to folders do not count. */
function kindOf(root: string, path: string): 'file' | 'folder' | undefined {
  const found = lstatSync(join(root, path), { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return 'folder'
  if (found?.isSymbolicLink() !== true) return found?.isFile() === true ? 'file' : undefined
  try {
    const target = realpathSync(join(root, path))
    const inside = relative(root, target).split(sep).join('/')
    return statSync(target).isFile() && pathProblem(inside) === undefined ? 'file' : undefined
  } catch {
    return undefined
  }
}

/** Whether the record of a build marks the folder as server output, which the compression skips. */
export function isServerOutput(folder: string): boolean {
  try {
    const text = readFileSync(join(folder, recordPath), { encoding: 'utf8', flag: readingFlags })
    const record: unknown = JSON.parse(text)
    return typeof record === 'object' && record !== null && 'role' in record && record.role === 'server'
  } catch {
    return false
  }
}

const pieceLength = 1024 * 1024

function digestOf(file: string): string {
  const descriptor = openSync(file, readingFlags)
  try {
    const digest = createHash('sha256')
    const piece = Buffer.allocUnsafe(pieceLength)
    for (let read = -1; read !== 0;) {
      read = readSync(descriptor, piece, 0, pieceLength, null)
      digest.update(piece.subarray(0, read))
    }
    return digest.digest('hex')
  } finally {
    closeSync(descriptor)
  }
}
