import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { contentCodings, type Manifest, type ManifestVariant, variantPath } from '@serve-dist/manifest'
import { buildManifest } from './build-manifest.ts'
import { contentTime } from './content-time.ts'
import { type DescribedFile, describeFile } from './describe-file.ts'
import { pendingPath } from './journal.ts'
import { listFiles } from './list-files.ts'
import { openFolder } from './open-folder.ts'
import { PrecompressError } from './precompress-error.ts'
import type { DescribeOptions } from './precompress-options.ts'
import { reasonOf } from './reason-of.ts'
import { resolvePrecompressOptions } from './resolve-precompress-options.ts'
import { runBounded } from './run-bounded.ts'

/** Reading is bound by Node's pool of four threads; a few more keep it busy while hashes are computed. */
const filesAtOnce = 8

/**
 * The manifest of a folder that has none, by reading it; nothing is written. A file counts as a variant
 * when its name is that of another file plus a coding's extension. Times are those of this call, or
 * `SOURCE_DATE_EPOCH`: the file system's may be constant (images, archives) and would hide a change.
 *
 * @throws {@link PrecompressError} that lists all problems at once.
 */
export async function describeDirectory(directory: string, options: DescribeOptions = {}): Promise<Manifest> {
  const settings = resolvePrecompressOptions(options)
  const time = contentTime(process.env['SOURCE_DATE_EPOCH'])
  const folder = await openFolder(directory)
  await refuseUnfinished(folder)
  const files = await listFiles(folder, settings, () => {})

  const described = new Map<string, DescribedFile>()
  const problems: string[] = []
  const bounds = { tasks: filesAtOnce, bytes: Infinity, bytesOf: () => 0 }
  await runBounded(files, bounds, async ({ path }) => {
    try {
      described.set(path, await describeFile(folder, path))
    } catch (error) {
      problems.push(`${path}: cannot be read (${reasonOf(error)})`)
    }
  })
  if (problems.length > 0) throw new PrecompressError(problems.toSorted())

  const originals = [...described.values()].filter(({ path }) => !isVariant(path, described))
  const compressed = originals.map((file) => ({ file, variants: variantsOf(file.path, described) }))
  return buildManifest(compressed, settings, { ...time, earlier: undefined })
}

/** Variants of two builds may lie side by side: their bytes cannot be told apart without a manifest. */
async function refuseUnfinished(folder: string): Promise<void> {
  const isUnfinished = await access(join(folder, pendingPath)).then(
    () => true,
    () => false,
  )
  if (isUnfinished) {
    throw new PrecompressError([
      `${folder}: the last compression did not come to its end (${pendingPath} is there); build or compress it again`,
    ])
  }
}

/** Of `x.js`, `x.js.br` and `x.js.br.gz` the second is a variant; the third, of a variant, is a file. */
function isVariant(path: string, files: ReadonlyMap<string, DescribedFile>): boolean {
  return contentCodings.some(({ extension }) => {
    if (!path.endsWith(extension)) return false
    const original = path.slice(0, -extension.length)
    return files.has(original) && !isVariant(original, files)
  })
}

function variantsOf(path: string, files: ReadonlyMap<string, DescribedFile>): ManifestVariant[] {
  return contentCodings.flatMap(({ name }) => {
    const found = files.get(variantPath(path, name))
    return found === undefined ? [] : [{ coding: name, size: found.size, sha256: found.sha256 }]
  })
}
