import { randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import { recordPath } from '@serve-dist/manifest'
import { contentTime } from '../commit/build-manifest.ts'
import { findCacheDirectory } from '../cache/encoding-cache.ts'
import { maximumUnusedTime } from '../cache/prune-cache.ts'
import { toWriteError } from '../commit/create-stager.ts'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { readText } from '../folder/disk.ts'
import { type BuildFacts, type BuildRecord, recordVersion, type StoredRecord } from './build-record.ts'
import { parseRecord, parseStoredRecord } from './parse-record.ts'

/**
 * Adds the time to a record and writes it into the output folder and into the caches of the packages of `root` and the
 * folder.
 *
 * The new record keeps facts of the folder's earlier record about files that still exist. A client's record stays a
 * client's record if a server build writes into the same folder.
 *
 * @throws {@link OperatorError} if the folder is not writable. Failures of the cache are ignored.
 */
export function writeRecord(
  folder: string,
  facts: BuildFacts,
  { root }: { readonly root: string },
): BuildRecord {
  const directory = resolve(folder)
  const record = joinRecords(directory, readRecord(directory), {
    ...facts,
    version: recordVersion,
    time: contentTime().now,
  })
  try {
    replaceFile(join(directory, recordPath), JSON.stringify(record))
  } catch (error) {
    throw toWriteError(directory, error)
  }
  // Use the real path, as a later compression does.
  const stored: StoredRecord = { root: resolve(root), folder: realpathSync(directory), record }
  const name = `${sha256Of(`${stored.root}\0${stored.folder}`).slice(0, 32)}.json`
  for (const caches of new Set([cacheAbove(stored.root), cacheAbove(dirname(directory))])) {
    if (caches === undefined) continue
    try {
      replaceFile(join(caches, name), JSON.stringify(stored))
      forgetOld(caches)
    } catch {
      // The cache's disk may be full or read-only. The record in the folder is enough.
    }
  }
  return record
}

/** Reads the record of a folder. Returns `undefined` if it is missing or unreadable. */
export function readRecord(
  folder: string,
  warn: (message: string) => void = () => {},
): BuildRecord | undefined {
  return readIfThere(join(folder, recordPath), parseRecord, warn)
}

/** Reads the records in the caches of the packages of these folders, latest first. */
export function readCachedRecords(
  folders: readonly string[],
  warn: (message: string) => void = () => {},
): StoredRecord[] {
  const found = [...new Set(folders.flatMap((folder) => cacheAbove(resolve(folder)) ?? []))].flatMap(
    (caches) =>
      namesIn(caches).flatMap((name) => readIfThere(join(caches, name), parseStoredRecord, warn) ?? []),
  )
  const latest = new Map<string, StoredRecord>()
  for (const stored of found.toSorted((a, b) => (a.record.time < b.record.time ? -1 : 1))) {
    latest.set(`${stored.root}\0${stored.folder}`, stored)
  }
  return [...latest.values()].toReversed()
}

/** Returns the cache of records of the package that contains the folder. */
function cacheAbove(folder: string): string | undefined {
  const directory = findCacheDirectory(join(folder, 'package.json'))
  return directory && join(directory, 'records')
}

function joinRecords(folder: string, before: BuildRecord | undefined, now: BuildRecord): BuildRecord {
  if (before === undefined) return now
  const isThere = ([path]: readonly [string, unknown]): boolean => existsSync(join(folder, path))
  const hashed = Object.entries(before.hashed).filter(isThere)
  const graph = Object.entries(before.graph).filter(isThere)
  // Chunks of an earlier build may still import the environment module.
  const isImported = graph.some(([, { imports }]) => imports.includes(before.environment?.path ?? ''))
  const isOfServer = now.role === 'server' && before.role === 'client'
  const serverChunks =
    isOfServer || now.role === 'client'
      ? joinServerChunks(before, now).filter((path) => isThere([path, 0]))
      : []
  return {
    ...(before.environment && isImported && { environment: before.environment }),
    ...(isOfServer ? before : now),
    hashed: { ...Object.fromEntries(hashed), ...now.hashed },
    graph: { ...Object.fromEntries(graph), ...now.graph },
    ...(serverChunks.length > 0 && { serverChunks }),
  }
}

/** Returns the chunks of server builds in a client's folder, except those that the client also has. */
function joinServerChunks(before: BuildRecord, now: BuildRecord): string[] {
  const known = before.serverChunks ?? []
  const ofServers = [before, now].flatMap(({ role, graph }) => (role === 'server' ? Object.keys(graph) : []))
  const client =
    now.role === 'client'
      ? Object.keys(now.graph)
      : Object.keys(before.graph).filter((path) => !known.includes(path))
  return [...new Set([...known, ...ofServers])].filter((path) => !client.includes(path)).toSorted()
}

/** Replaces a file atomically. */
function replaceFile(path: string, text: string): void {
  const aside = `${path}.${randomUUID()}`
  mkdirSync(dirname(path), { recursive: true })
  try {
    writeFileSync(aside, text, { flag: 'wx' })
    renameSync(aside, path)
  } catch (error) {
    rmSync(aside, { force: true })
    throw error
  }
}

function readIfThere<Found>(
  path: string,
  parse: (text: string) => Found,
  warn: (message: string) => void,
): Found | undefined {
  try {
    return parse(readText(path))
  } catch (error) {
    if (!isNotFoundError(error))
      warn(
        `cannot read ${path}: ${reasonOf(error)}. Hashed names, rules and exclusions of the build are unknown. Build again, or delete the file.`,
      )
    return undefined
  }
}

/** Removes old records, because builds in temporary folders leave records behind. */
function forgetOld(caches: string): void {
  const paths = namesIn(caches).map((name) => join(caches, name))
  for (const path of paths) {
    // A concurrent build may remove the file.
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats !== undefined && Date.now() - stats.mtimeMs > maximumUnusedTime) rmSync(path, { force: true })
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch {
    return []
  }
}
