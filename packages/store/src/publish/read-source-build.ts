import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { compressCommand, type Manifest, OperatorError, variantPath } from '@serve-dist/manifest'
import { readBuildManifest } from '@serve-dist/manifest/read-build-manifest'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import type { NamedBlob } from '../layout.ts'

/** A blob and the path of a file with its content. */
export interface SourceBlob extends NamedBlob {
  /** The path relative to the build's folder. */
  readonly path: string
}

/** A build to publish. */
export interface Build {
  readonly directory: string
  readonly manifest: Manifest
  /** The blobs without duplicates. */
  readonly blobs: readonly SourceBlob[]
}

const statsAtOnce = 32

/**
 * Reads the manifest of a build and checks the sizes of all files.
 *
 * @throws OperatorError if there is no finished build, or if files are missing or have other sizes.
 */
export async function readSourceBuild(directory: string): Promise<Build> {
  const manifest = await readBuildManifest(directory)
  const files: SourceBlob[] = []
  for (const { path, sha256, size, variants, runtime } of manifest.files) {
    if (runtime === true) continue
    files.push({ path, sha256, size })
    for (const variant of variants) files.push({ ...variant, path: variantPath(path, variant.coding) })
  }
  const problems: string[] = []
  await forEachConcurrently(files, statsAtOnce, async ({ path, size }) => {
    const problem = await sizeProblem(join(directory, path), size)
    if (problem !== undefined) problems.push(`${path}: ${problem}`)
  })
  if (problems.length > 0) throw buildMismatchError(directory, problems)
  const blobs = new Map(files.map((file) => [file.sha256, file]))
  return { directory, manifest, blobs: [...blobs.values()] }
}

/** Creates the error for files that do not match the manifest. */
export function buildMismatchError(directory: string, problems: readonly string[]): OperatorError {
  const what = pluralize(problems.length, 'file does', 'files do')
  return new OperatorError('SD_MANIFEST_MISMATCH', [
    `${directory}: ${what} not match the manifest, so nothing was published.`,
    `  Publish the whole folder. Run this command as the last step of the build: ${compressCommand(directory)}`,
    ...problems.map((problem) => `  ${problem}`).toSorted(),
  ])
}

async function sizeProblem(file: string, size: number): Promise<string | undefined> {
  try {
    const stats = await stat(file)
    if (!stats.isFile()) return 'is not a regular file'
    return stats.size === size ? undefined : `has ${stats.size} bytes, the manifest says ${size}`
  } catch (error) {
    return isNotFoundError(error) ? 'is missing' : `cannot read this file (${reasonOf(error)})`
  }
}
