import {
  type DeltaCoding,
  isDocumentType,
  isSourceMap,
  type Manifest,
  type ManifestFile,
} from '@serve-dist/manifest'
import { isImmutable, type ResolvedServing, servingFiles } from './resolve-serving.ts'
import type { ManifestEntry, StoredBytes } from './site.ts'

/** A build with its bytes, by what the manifest says of them: its files and their variants. */
export interface StoredBuild {
  readonly manifest: Manifest
  readonly stored: ReadonlyMap<ManifestEntry, StoredBytes>
  /** Absent where nobody makes deltas of it, and of the builds that will follow. */
  readonly deltas?: StoredDeltas | undefined
}

/** Deltas in memory, by the digest of the file, then of the dictionary. */
export type StoredDeltas = ReadonlyMap<string, ReadonlyMap<string, readonly StoredDelta[]>>

export interface StoredDelta {
  readonly coding: DeltaCoding
  /** Of its bytes. */
  readonly sha256: string
  readonly bytes: StoredBytes
}

/** All deltas of a build, in one list. */
export function listDeltas(deltas: StoredDeltas = new Map()): readonly StoredDelta[] {
  return [...deltas.values()].flatMap((from) => [...from.values()].flat())
}

/**
 * A build that was current before, of which open tabs still ask for files. Bytes may be missing: a variant without bytes is
 * not offered, a file without them is not answered.
 */
export type KeptBuild = StoredBuild

/**
 * Whether a file of an earlier build is answered beside the current one: what never changes under its name, by the build
 * or by a rule of today. Never pages, which are the current build's alone, nor what is for people who debug.
 */
export function isKeptFile(
  { stored }: KeptBuild,
  file: ManifestFile,
  serving: Pick<ResolvedServing, 'immutable'>,
): boolean {
  const { path, mediaType, runtime } = file
  // SVG is a document, and more often an image that a style names.
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
