import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  buildUnfinished,
  OperatorError,
  contentCodings,
  isPageType,
  type Manifest,
  type ManifestVariant,
  type PagePolicy,
  pendingPath,
  variantPath,
} from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { buildManifest, type CompressedFile, contentTime } from '../commit/build-manifest.ts'
import { type DescribedFile, describeFile } from '../folder/describe-file.ts'
import { policyOfPage } from './describe-pages.ts'
import { findNeeds } from '../policies/find-needs.ts'
import { joinNeeds } from '../policies/join-needs.ts'
import { findVariants } from './find-variants.ts'
import { listFiles, openFolder } from '../folder/list-files.ts'
import type { DescribeOptions } from '../precompress-options.ts'
import { resolvePrecompressOptions } from '../resolve-precompress-options.ts'

/** Milliseconds of work before it yields to the event loop, so that a server can answer during a reload. */
const longestSlice = 4

/**
 * Returns a manifest of a folder without one. Writes nothing.
 *
 * A file is a variant if its name is another file's name plus a coding's extension, and every browser decodes it to
 * that file. On Node 20 without the optional package, no file is a zstd variant. Without `SOURCE_DATE_EPOCH`, the
 * manifest has `timesAreFixed`, because the times differ between replicas.
 *
 * @throws {@link OperatorError} that lists all problems at once.
 */
export async function describeDirectory(
  directory: string,
  { policies = false, ...options }: DescribeOptions = {},
): Promise<Manifest> {
  const settings = resolvePrecompressOptions(options)
  const time = contentTime()
  const folder = await openFolder(directory)
  await refuseUnfinished(folder)
  // Without patterns, `listFiles` does not load the glob library.
  const patterns = options.include === undefined && options.exclude === undefined ? undefined : settings
  const files = await listFiles(folder, { patterns, warn: settings.onWarning })

  const described = new Map<string, DescribedFile>()
  const policyOf = new Map<string, PagePolicy>()
  const problems: string[] = []
  let begun = performance.now()
  for (const { path } of files) {
    try {
      const file = await describeFile(folder, path)
      described.set(path, file)
      const policy = policies && isPageType(file.mediaType) ? await policyOfPage(folder, path) : undefined
      if (policy !== undefined) policyOf.set(path, policy)
    } catch (error) {
      problems.push(`${path}: cannot read this file (${reasonOf(error)}). Let this user read it.`)
    }
    if (performance.now() - begun < longestSlice) continue
    await setImmediate()
    begun = performance.now()
  }
  if (problems.length > 0) throw new OperatorError('SD_FOLDER_UNREADABLE', problems.toSorted())

  const variants = await findVariants(folder, described, settings.onWarning)
  const originals = [...described.values()].filter(({ path }) => !variants.has(path))
  const variantsOf = (path: string): ManifestVariant[] =>
    contentCodings.flatMap(({ name }) => {
      const found = described.get(variantPath(path, name))
      if (found === undefined || !variants.has(found.path)) return []
      return [{ coding: name, size: found.size, sha256: found.sha256 }]
    })
  const compressed = originals.map((file): CompressedFile => {
    const policy = policyOf.get(file.path)
    const original = { file, variants: variantsOf(file.path) }
    return policy ? Object.assign(original, { policy }) : original
  })
  const needs = policies ? joinNeeds(await findNeeds(folder, originals)) : undefined
  const facts = { ...settings, ...(needs && { policy: needs }) }
  return buildManifest(compressed, facts, { now: time.now, isFixed: !time.isFixed, earlier: undefined })
}

/** Rejects an unfinished folder, because only a manifest separates the variants of two builds. */
async function refuseUnfinished(folder: string): Promise<void> {
  const isUnfinished = await access(join(folder, pendingPath)).then(
    () => true,
    () => false,
  )
  if (isUnfinished) throw buildUnfinished(folder)
}
