import { type Dirent, readdirSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { manifestPath, recordPath } from '@serve-dist/manifest'
import { digestOfFile } from '../folder/describe-file.ts'
import type { BuildRecord, HashedFile, StoredRecord } from './build-record.ts'
import { readCachedRecords, readRecord } from './record-files.ts'

/** What builds wrote down about a folder. */
export interface FoundRecords {
  /** The one that says how the folder is served, and where it was found. */
  readonly main: { readonly record: BuildRecord; readonly source: 'record' | 'cache' } | undefined
  /** That one, and all that the caller holds: their promises and graphs are about this folder. */
  readonly promising: readonly BuildRecord[]
  /** Every one whose hashed names may be among the files, that one included. */
  readonly all: readonly BuildRecord[]
  /** Folders inside this one that builds wrote for a server, relative to it, with `/`. */
  readonly serverFolders: readonly string[]
  /** Everything in the folder, hidden files and folders too; relative to it, with `/`. */
  readonly names: readonly string[]
}

export interface RecordSearch {
  /** Records that the caller holds: they count like the one in the folder. */
  readonly given: readonly BuildRecord[]
  /** The project, or where the command runs: its caches are looked at besides those above the folder. */
  readonly root: string
  readonly warn: (message: string) => void
}

/**
 * The record in the folder counts, else the cached one of this very folder unless all of its hashed files are gone, else
 * of all cached ones that of which most lie here: a framework copies its builds together, and leaves hidden folders behind.
 *
 * @param folder - the real, absolute path of a folder that is there.
 */
export async function findRecords(
  folder: string,
  { given, root, warn }: RecordSearch,
): Promise<FoundRecords> {
  const names = namesBelow(folder, '')
  const cached = readCachedRecords([dirname(folder), root], warn)
  const held = given.filter(isOfClient)
  const countFiles = createFileCount(folder, names)
  const best = held.length > 1 ? await mostFiles(held, countFiles) : undefined
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

/** Everything in the folder; the pass itself refuses a folder of the build that it cannot list. */
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

/** Counts the hashed files of a record that lie in the folder, wherever in it, with the bytes that were hashed. */
function createFileCount(folder: string, names: readonly string[]): FileCount {
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
      const candidates = (byName.get(lastName(end)) ?? []).filter((path) => endsAs(path, end))
      const digests = await Promise.all(candidates.map(digestOf))
      if (digests.includes(sha256)) count += 1
    }
    return count
  }
}

/**
 * The record of which most hashed files lie in the folder: at least half of its own, for two applications may share a
 * chunk of a library and nothing else.
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

/** Where builds wrote for a server; one with pages in which a pass ran is a site, whatever wrote it. */
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
    // Another build may have written something else there since.
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

/** Whether a path is the other, or the other below some folder. */
export function endsAs(path: string, end: string): boolean {
  return path === end || path.endsWith(`/${end}`)
}

/** What is known of a hashed name; `undefined` for one that is not hashed, or was for other bytes. */
export type FindHashedName = (path: string, sha256: string) => HashedFile | undefined

/** Looks hashed names up by their digest: the same file may lie below another folder now. */
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
