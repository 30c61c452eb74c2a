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

/** A variant of serve-dist and its digest. */
export interface VariantClaim {
  /** Relative to the build's folder. */
  readonly path: string
  readonly sha256: string
}

/** The state that the next compression needs if this one does not finish. */
export interface Journal {
  /** The manifest that the build replaces. The next manifest keeps its times. */
  readonly replaces: Manifest | undefined
  /** Every variant that serve-dist wrote or is about to write. */
  readonly variants: readonly VariantClaim[]
}

export function stringifyJournal(journal: Journal): string {
  return `${JSON.stringify({ version: 1, replaces: journal.replaces ?? null, variants: journal.variants })}\n`
}

/** Parses a journal. Throws if the text is not a journal. */
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
  /** The last complete manifest, even if a killed compression had removed it. */
  readonly manifest: Manifest | undefined
  /** The text of `manifest.json` on the disk. */
  readonly manifestText: string | undefined
  /** Whether a compression was killed while it changed the folder. */
  readonly isUnfinished: boolean
  /** The variants of serve-dist that are still on the disk, by path. */
  readonly variants: OwnVariants
}

/** Digests of the variants of earlier compressions, by path. A compression may replace only these. */
export type OwnVariants = ReadonlyMap<string, FileDigest>

/**
 * Reads the state of a folder.
 *
 * A variant belongs to serve-dist only if a manifest or a journal names it and its digest matches. The extension of a
 * file is not enough.
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

/** Adds variants that belong to serve-dist. */
export function adoptVariants(earlier: FolderState, ours: readonly DescribedFile[]): FolderState {
  return {
    ...earlier,
    variants: new Map([...earlier.variants, ...ours.map((file) => [file.path, file] as const)]),
  }
}

/**
 * Returns the variants of a manifest. Omits those that the manifest also lists as files, because they belong to the
 * user.
 */
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
      `cannot read ${path} of an earlier compression: ${reasonOf(error)}. A new file replaces it. Its rules, exclusions and list of variants are lost, so old variants stay as files.`,
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
    // A link may lead to a file of another program, even outside the folder.
    if (linkBefore(path) !== undefined) continue
    const found = await digestOfFile(join(folder, path))
    if (found !== undefined && claimed.has(found.sha256)) variants.set(path, found)
  }
  return variants
}
