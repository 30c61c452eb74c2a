import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import {
  type Manifest,
  manifestPath,
  parseManifest,
  pathProblem,
  pendingPath,
  variantPath,
} from '@serve-dist/manifest'
import { type DescribedFile, digestOfFile, type FileDigest } from '../folder/describe-file.ts'
import { createLinkSearch } from '../folder/list-files.ts'

/** The digest that a file of ours has, once it is there. */
export interface VariantClaim {
  /** Relative to the build's folder. */
  readonly path: string
  readonly sha256: string
}

/** What the next pass must know if this one does not come to its end. */
export interface Journal {
  /** The manifest that is being replaced: its times live on. */
  readonly replaces: Manifest | undefined
  /** Every variant that is ours or about to be. */
  readonly variants: readonly VariantClaim[]
}

export function stringifyJournal(journal: Journal): string {
  return `${JSON.stringify({ version: 1, replaces: journal.replaces ?? null, variants: journal.variants })}\n`
}

/** Reads the text of a journal; throws when it is not one. */
export function parseJournal(text: string): Journal {
  const document: unknown = JSON.parse(text)
  const version = fieldOf(document, 'version')
  const variants = fieldOf(document, 'variants')
  const replaces = fieldOf(document, 'replaces')
  if (version !== 1 || !Array.isArray(variants) || !variants.every(isClaim)) {
    throw new TypeError('it is not a journal of version 1')
  }
  return {
    replaces: replaces === null ? undefined : parseManifest(JSON.stringify(replaces)),
    variants,
  }
}

function isClaim(value: unknown): value is VariantClaim {
  const path = fieldOf(value, 'path')
  const sha256 = fieldOf(value, 'sha256')
  return (
    typeof path === 'string' &&
    pathProblem(path) === undefined &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256)
  )
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

/** The files that earlier compressions left in a folder. */
export interface FolderState {
  /** The last manifest that was complete, even when a later pass was killed after retiring it. */
  readonly manifest: Manifest | undefined
  /** The text of `manifest.json` as it stands on the disk. */
  readonly manifestText: string | undefined
  /** Whether a pass was killed while it changed the folder. */
  readonly isUnfinished: boolean
  /** The variants that are ours and still on the disk, by path. */
  readonly variants: OwnVariants
}

/** Digests of the variants of earlier steps, by path. A step may replace these only. */
export type OwnVariants = ReadonlyMap<string, FileDigest>

/**
 * Ours is only what a manifest or a journal of ours names AND what still has the digest that it names:
 * never a guess from a file's extension.
 */
export async function readEarlierBuild(
  folder: string,
  warn: (message: string) => void,
): Promise<FolderState> {
  const { claims, ...state } = await readStateFiles(folder, warn)
  return { ...state, variants: await keepTrueClaims(folder, claims) }
}

/** The content of the manifest and the journal of a folder. The variants may have changed since. */
export interface StateFiles extends Omit<FolderState, 'variants'> {
  readonly claims: readonly VariantClaim[]
}

export async function readStateFiles(
  folder: string,
  warn: (message: string) => void = () => {},
): Promise<StateFiles> {
  const [current, journal] = await Promise.all([
    readState(folder, manifestPath, parseManifest, warn),
    readState(folder, pendingPath, parseJournal, warn),
  ])
  return {
    manifest: current?.parsed ?? journal?.parsed?.replaces,
    manifestText: current?.text,
    isUnfinished: journal !== undefined,
    claims: [...claimsOf(current?.parsed), ...(journal?.parsed?.variants ?? [])],
  }
}

/** With more variants that are ours. */
export function adoptVariants(earlier: FolderState, ours: readonly DescribedFile[]): FolderState {
  return {
    ...earlier,
    variants: new Map([...earlier.variants, ...ours.map((file) => [file.path, file] as const)]),
  }
}

/** The variants of ours that a manifest names, as claims; one that is a file as well is somebody else's. */
export function claimsOf(manifest: Manifest | undefined): VariantClaim[] {
  const files = manifest?.files ?? []
  const paths = new Set(files.map(({ path }) => path))
  return files
    .flatMap((file) =>
      file.variants.map(({ coding, sha256 }) => ({ path: variantPath(file.path, coding), sha256 })),
    )
    .filter(({ path }) => !paths.has(path))
}

async function readState<Parsed>(
  folder: string,
  path: string,
  parse: (text: string) => Parsed,
  warn: (message: string) => void,
): Promise<{ readonly text: string; readonly parsed: Parsed | undefined } | undefined> {
  let text = ''
  try {
    text = await readFile(join(folder, path), 'utf8')
    return { text, parsed: parse(text) }
  } catch (error) {
    if (isNotFoundError(error)) return undefined
    warn(
      `${path} of an earlier pass cannot be read and is replaced (${reasonOf(error)}); what only it knew is lost: rules, files that it left out, and which variants are ours, so that those stay as files`,
    )
    return { text, parsed: undefined }
  }
}

async function keepTrueClaims(folder: string, claims: readonly VariantClaim[]): Promise<OwnVariants> {
  const digests = new Map<string, Set<string>>()
  for (const { path, sha256 } of claims) {
    digests.set(path, (digests.get(path) ?? new Set()).add(sha256))
  }
  const variants = new Map<string, FileDigest>()
  const linkBefore = createLinkSearch(folder)
  for (const [path, claimed] of digests) {
    // A link may lead to other people's files, even outside the folder.
    if (linkBefore(path) !== undefined) continue
    const found = await digestOfFile(join(folder, path))
    if (found !== undefined && claimed.has(found.sha256)) variants.set(path, found)
  }
  return variants
}
