import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Manifest, variantPath } from '@serve-dist/manifest'
import { fingerprintOf } from './file-fingerprint.ts'
import type { StoredBytes } from './site.ts'
import { SiteError } from './site-error.ts'

/** Requests to the file system at once: more than the four threads of Node's pool would only queue. */
const concurrency = 8

/** A file or a variant, as the manifest tells of it. */
export interface ExpectedFile {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

/** What is looked at besides existence and size. */
export interface Inspection {
  /** Whether the digest of every file is compared; of those that are held it always is. */
  readonly verify: 'size' | 'hash'
  /** The paths whose bodies are held in memory. */
  readonly held: ReadonlySet<string>
}

/**
 * Compares every file that the manifest names with the disk, and reads the bodies that are to be held. Two
 * builds of a page differ in hashes of equal length: what is held is compared byte for byte, by digest.
 *
 * @returns the files by path, variants included.
 * @throws SiteError that names each file which is missing or not what the manifest says.
 */
export async function inspectFiles(
  root: string,
  manifest: Manifest,
  inspection: Inspection,
): Promise<ReadonlyMap<string, StoredBytes>> {
  const problems: string[] = []
  const files = new Map<string, StoredBytes>()
  const inspect = async (expected: ExpectedFile): Promise<void> => {
    const inspected = await inspectFile(join(root, expected.path), expected, inspection)
    if (typeof inspected === 'string') problems.push(`${expected.path}: ${inspected}`)
    else files.set(expected.path, inspected)
  }
  // Whoever has finished one takes the next.
  const queue = expectedFiles(manifest).values()
  const inspectQueue = async (): Promise<void> => {
    for (const expected of queue) await inspect(expected)
  }
  await Promise.all(Array.from({ length: concurrency }, inspectQueue))
  if (problems.length > 0) {
    const count = problems.length === 1 ? '1 file is' : `${problems.length} files are`
    throw new SiteError([
      `${root}: ${count} not what the manifest says; build again, and deploy the folder as a whole`,
      ...problems.toSorted().map((problem) => `  ${problem}`),
    ])
  }
  return files
}

/** Every file that the manifest names, variants among them. */
export function expectedFiles(manifest: Manifest): readonly ExpectedFile[] {
  return manifest.files.flatMap((file) => [
    file,
    ...file.variants.map(({ coding, size, sha256 }) => ({
      path: variantPath(file.path, coding),
      size,
      sha256,
    })),
  ])
}

/** The file, or what is wrong with it. */
async function inspectFile(
  file: string,
  { path, size, sha256 }: ExpectedFile,
  { verify, held }: Inspection,
): Promise<StoredBytes | string> {
  let handle: FileHandle | undefined
  try {
    // Without O_NONBLOCK, opening a FIFO in the file's place would wait for ever.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const found = await handle.stat({ bigint: true })
    if (!found.isFile()) return 'is not a regular file'
    if (found.size !== BigInt(size)) return `has ${found.size} bytes, the manifest says ${size}`
    const body = held.has(path) ? await handle.readFile() : undefined
    const isToBeHashed = body !== undefined || verify === 'hash'
    if (isToBeHashed && (await digestOf(body ?? handle)) !== sha256) {
      return 'has other bytes than the manifest says (SHA-256 differs)'
    }
    return { file, size, fingerprint: fingerprintOf(found), body }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'is missing'
    return `cannot be read (${error instanceof Error ? error.message : String(error)})`
  } finally {
    await handle?.close()
  }
}

async function digestOf(source: Uint8Array | FileHandle): Promise<string> {
  const hash = createHash('sha256')
  if (source instanceof Uint8Array) hash.update(source)
  else await pipeline(source.createReadStream({ autoClose: false }), hash)
  return hash.digest('hex')
}
