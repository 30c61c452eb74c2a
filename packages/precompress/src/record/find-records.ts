import { type Dirent, readdirSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { manifestPath, recordPath } from '@serve-dist/manifest'
import { digestOfFile } from '../folder/describe-file.ts'
import type { BuildRecord, HashedFile, StoredRecord } from './build-record.ts'
import { readCachedRecords, readRecord } from './record-files.ts'

/** Records about a folder. */
export interface FoundRecords {
  /** The record that decides how the folder is served, and its source. */
  readonly main: { readonly record: BuildRecord; readonly source: 'record' | 'cache' } | undefined
  /** The main record and the given records. Their promises and graphs are about this folder. */
  readonly promising: readonly BuildRecord[]
  /** All records whose hashed names may be in the folder, including the main record. */
  readonly all: readonly BuildRecord[]
  /** Subfolders that builds wrote for a server, relative to the folder, with `/`. */
  readonly serverFolders: readonly string[]
  /** All files and folders, including hidden ones, relative to the folder, with `/`. */
  readonly names: readonly string[]
}

export interface RecordSearch {
  /** Records of the caller. They have the same rank as the folder's record. */
  readonly given: readonly BuildRecord[]
  /** The project's root or the working directory. Its caches are searched in addition to those above the folder. */
  readonly root: string
  readonly warn: (message: string) => void
}

/**
 * Finds the records of a folder.
 *
 * The main record is the folder's own record. Otherwise it is the cached record of this folder, unless all its hashed
 * files are gone. Otherwise it is the cached record with the most files at the same paths, because frameworks copy builds
 * without hidden folders. The `base` of a build in a subfolder does not apply to the whole folder.
 *
 * @param folder - real, absolute path of an existing folder.
 */
export async function findRecords(
  folder: string,
  { given, root, warn }: RecordSearch,
): Promise<FoundRecords> {
  const names = namesBelow(folder, '')
  const cached = readCachedRecords([dirname(folder), root], warn)
  const held = given.filter(isOfClient)
  const countFiles = createFileCount(folder, names, (path, recorded) => path === recorded)
  const countMovedFiles = createFileCount(folder, names, endsAs)
  const best = held.length > 1 ? await mostFiles(held, countMovedFiles) : undefined
  const own = best ?? held[0] ?? readRecord(folder, warn)
  const ofFolder = cached.find((stored) => stored.folder === folder)?.record
  const ofClients = cached.map(({ record }) => record).filter(isOfClient)
  const isSame =
    ofFolder !== undefined && (Object.keys(ofFolder.hashed).length === 0 || (await countFiles(ofFolder)) > 0)
  const main = own ?? (isSame ? ofFolder : await mostFiles(ofClients, countFiles))
  const source = main === own ? 'record' : 'cache'
  const promising = [...new Set([...(main ? [main] : []), ...given])]
  return {
    main: main && { record: main, source },
    promising,
    all: [...new Set([...promising, ...cached.map(({ record }) => record)])],
    serverFolders: serverFoldersOf(folder, names, cached),
    names,
  }
}

/** Lists all names in the folder. Skips unreadable folders, because the compression reports them. */
function namesBelow(folder: string, parent: string): string[] {
  const entries = entriesOf(join(folder, parent))
  return entries.flatMap((entry) => {
    const name = parent === '' ? entry.name : `${parent}/${entry.name}`
    return entry.isDirectory() ? [name].concat(namesBelow(folder, name)) : [name]
  })
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function isOfClient({ role }: BuildRecord): boolean {
  return role === 'client'
}

type FileCount = (record: BuildRecord) => Promise<number>

/** Creates a function that counts the hashed files of a record in the folder, with the same digest. */
function createFileCount(
  folder: string,
  names: readonly string[],
  isPathOf: (path: string, recorded: string) => boolean,
): FileCount {
  const byName = new Map<string, string[]>()
  for (const path of names) byName.set(lastName(path), [...(byName.get(lastName(path)) ?? []), path])
  const read = new Map<string, string | undefined>()
  const digestOf = async (path: string): Promise<string | undefined> => {
    if (!read.has(path)) read.set(path, (await digestOfFile(join(folder, path)))?.sha256)
    return read.get(path)
  }
  return async ({ hashed }) => {
    let count = 0
    for (const [end, { sha256 }] of Object.entries(hashed)) {
      const candidates = (byName.get(lastName(end)) ?? []).filter((path) => isPathOf(path, end))
      const digests = await Promise.all(candidates.map(digestOf))
      if (digests.includes(sha256)) count += 1
    }
    return count
  }
}

/**
 * Returns the record with the most hashed files in the folder. At least half of its files must be here, because two
 * applications may share a chunk of a library.
 */
async function mostFiles(
  records: readonly BuildRecord[],
  countFiles: FileCount,
): Promise<BuildRecord | undefined> {
  let best: BuildRecord | undefined
  let most = 0
  for (const record of records) {
    const count = await countFiles(record)
    if (count > most && count * 2 >= Object.keys(record.hashed).length) [best, most] = [record, count]
  }
  return best
}

/** Returns the folders of server builds. A folder with pages and a manifest is a site, not a server folder. */
function serverFoldersOf(
  folder: string,
  names: readonly string[],
  cached: readonly StoredRecord[],
): readonly string[] {
  const withRecords = names
    .filter((name) => name.endsWith(`/${recordPath}`))
    .map((name) => name.slice(0, -recordPath.length - 1))
    .filter((name) => readRecord(join(folder, name))?.role === 'server')
  const isThere = new Set(names)
  const known = cached.flatMap(({ folder: recorded, record: { role, graph } }) => {
    const name = relative(folder, recorded).split(sep).join('/')
    // Another build may have replaced the content since.
    const isStillThere = Object.keys(graph).some((path) => isThere.has(`${name}/${path}`))
    return role === 'server' && isStillThere ? [name] : []
  })
  const isSite = (name: string): boolean =>
    isThere.has(`${name}/${manifestPath}`) &&
    names.some((path) => path.startsWith(`${name}/`) && path.endsWith('.html'))
  return [...new Set([...withRecords, ...known])]
    .filter((name) => isThere.has(name) && !isSite(name))
    .toSorted()
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Returns whether two paths are equal, or one is the other in a subfolder. */
export function endsAs(path: string, end: string): boolean {
  return path === end || path.endsWith(`/${end}`)
}

/** Returns the facts about a hashed name. `undefined` if the name has no hash, or the hash belongs to other bytes. */
export type FindHashedName = (path: string, sha256: string) => HashedFile | undefined

/** Indexes hashed names by digest, because a file may have moved into another folder. */
export function indexHashedNames(records: readonly BuildRecord[]): FindHashedName {
  const byDigest = new Map<string, { readonly recorded: string; readonly file: HashedFile }[]>()
  for (const [recorded, file] of records.flatMap(({ hashed }) => Object.entries(hashed))) {
    const others = byDigest.get(file.sha256) ?? []
    others.push({ recorded, file })
    byDigest.set(file.sha256, others)
  }
  return (path, sha256) => {
    const known = byDigest.get(sha256)?.find(({ recorded }) => endsAs(path, recorded))
    if (known?.file.stem === undefined) return known?.file
    return { sha256, stem: path.slice(0, path.length - known.recorded.length) + known.file.stem }
  }
}
