import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  buildNotFound,
  buildUnfinished,
  manifestCure,
  manifestInvalid,
  OperatorError,
  type Manifest,
  manifestPath,
  parseManifest,
  pendingPath,
  isCompressible,
  isMissing,
} from '@serve-dist/manifest'
import { readOptional } from '../files/read-optional.ts'
import { loadOptional } from '../load-optional.ts'

/**
 * The manifest of a build; of a folder without one, the description that stands in for it.
 *
 * @param onWarning - called with what is not served as its name would have it, or not compressed.
 * @throws OperatorError when the folder is missing, its last build or compression did not finish, or
 * its manifest cannot be read.
 */
export async function readManifest(root: string, onWarning: (message: string) => void): Promise<Manifest> {
  await expectDirectory(root)
  const text = await readOptional(join(root, manifestPath))
  if (text === undefined) {
    if ((await readOptional(join(root, pendingPath))) !== undefined) {
      throw buildUnfinished(root)
    }
    // Not before it is needed: it is a fifth of all modules, and who serves a manifest needs none of them.
    const needed = { name: '@serve-dist/precompress', neededBy: `${root} has no manifest: describing it` }
    const { describeDirectory } = await loadOptional(
      needed,
      async () => await import('@serve-dist/precompress'),
    )
    const described = await describeDirectory(root, { onWarning })
    if (isWorthCompressing(described)) {
      onWarning(
        `${root}: no manifest and no variants found, so everything is sent as it is; ${manifestCure(root)}`,
      )
    }
    return described
  }
  try {
    return parseManifest(text)
  } catch (error) {
    throw error instanceof OperatorError ? manifestInvalid(join(root, manifestPath), error) : error
  }
}

/** Whether nobody has compressed what would be smaller: its plugin was forgotten, or never known of. */
function isWorthCompressing({ files }: Manifest): boolean {
  return (
    files.every(({ variants }) => variants.length === 0) &&
    files.some(({ mediaType, size }) => size >= 1024 && isCompressible(mediaType))
  )
}

async function expectDirectory(root: string): Promise<void> {
  const found = await stat(root).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (found === undefined) throw buildNotFound(root)
  if (!found.isDirectory())
    throw new OperatorError('SD_BUILD_NOT_FOUND', [
      `${root}: not a folder; name the folder that the build wrote`,
    ])
}
