import {
  type DeltaCoding,
  isDocumentType,
  isSourceMap,
  type Manifest,
  type ManifestFile,
  servingFiles,
} from '@serve-dist/manifest'
import { isImmutable, type ResolvedServing } from './resolve-serving.ts'
import type { ManifestEntry, StoredBytes } from './site.ts'

/** A build with the bytes of its files and variants. */
export interface StoredBuild {
  readonly manifest: Manifest
  readonly stored: ReadonlyMap<ManifestEntry, StoredBytes>
  /** Absent for earlier builds and if deltas are disabled. */
  readonly deltas?: StoredDeltas | undefined
}

/** Deltas in memory, by the digest of the file and then by the digest of the dictionary. */
export type StoredDeltas = ReadonlyMap<string, ReadonlyMap<string, readonly StoredDelta[]>>

export interface StoredDelta {
  readonly coding: DeltaCoding
  /** The digest of the delta's bytes. */
  readonly sha256: string
  readonly bytes: StoredBytes
}

/** Returns all deltas of a build as a list. */
export function listDeltas(deltas: StoredDeltas = new Map()): readonly StoredDelta[] {
  return [...deltas.values()].flatMap((from) => [...from.values()].flat())
}

/**
 * An earlier build whose files open tabs still request. A variant without bytes is not offered. A file
 * without bytes is not served.
 */
export interface KeptBuild extends StoredBuild {
  /** The time at which another build replaced it, in milliseconds since the epoch. Absent if it is unknown. */
  readonly superseded?: number
}

/**
 * Returns whether a file of an earlier build is served besides the current build. This applies to files
 * that are immutable by the build or by a current rule, except pages and source maps.
 */
export function isKeptFile(
  { stored }: KeptBuild,
  file: ManifestFile,
  serving: Pick<ResolvedServing, 'immutable'>,
): boolean {
  const { path, mediaType, runtime } = file
  // Most SVG files are images that a style sheet references, although SVG is a document type.
  const isDocument = isDocumentType(mediaType) && !mediaType.startsWith('image/')
  return (
    stored.has(file) &&
    isImmutable(serving, file) &&
    runtime !== true &&
    !isDocument &&
    !isSourceMap(path) &&
    !servingFiles.has(path)
  )
}
