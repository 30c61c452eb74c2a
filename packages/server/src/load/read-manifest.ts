import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, ManifestError, manifestPath, parseManifest, pendingPath } from '@serve-dist/manifest'
import { isCompressibleType } from '../application/compressible-type.ts'
import { SiteError } from '../site/site-error.ts'

const nothingCompressed =
  'it has no manifest and no variants, so everything is sent as it is; build with @serve-dist/vite, or run `npx serve-dist compress` on it'

/**
 * The manifest of a build; of a folder without one, the description that stands in for it.
 *
 * @param onWarning - called with what is not served as its name would have it, or not compressed.
 * @throws SiteError when the folder is missing, its last build or compression did not finish, or
 * its manifest cannot be read.
 */
export async function readManifest(root: string, onWarning: (message: string) => void): Promise<Manifest> {
  await expectDirectory(root)
  const text = await readOptional(join(root, manifestPath))
  if (text === undefined) {
    if ((await readOptional(join(root, pendingPath))) !== undefined) {
      throw new SiteError([
        `${root}: the last build or its compression did not finish, so what is there is not whole; build again`,
      ])
    }
    // Not before it is needed: it is a fifth of all modules, and who serves a manifest needs none of them.
    const { describeDirectory } = await import('@serve-dist/precompress')
    const described = await describeDirectory(root, { onWarning })
    if (isWorthCompressing(described)) onWarning(`${root}: ${nothingCompressed}`)
    return described
  }
  try {
    return parseManifest(text)
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error
    const problems = error.problems.map((problem) => `${join(root, manifestPath)}: ${problem}`)
    throw new SiteError(
      [...problems, 'Build again: the manifest is written by the build and not to be edited.'],
      {
        cause: error,
      },
    )
  }
}

/** Whether nobody has compressed what would be smaller: its plugin was forgotten, or never known of. */
function isWorthCompressing({ files }: Manifest): boolean {
  return (
    files.every(({ variants }) => variants.length === 0) &&
    files.some(({ mediaType, size }) => size >= 1024 && isCompressibleType(mediaType))
  )
}

async function expectDirectory(root: string): Promise<void> {
  const found = await stat(root).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
  if (found === undefined)
    throw new SiteError([`${root}: no such folder; build first, or name the folder to serve`])
  if (!found.isDirectory())
    throw new SiteError([`${root}: not a folder; name the folder that the build wrote`])
}

async function readOptional(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw new SiteError(
      [`${file}: cannot be read (${error instanceof Error ? error.message : String(error)})`],
      {
        cause: error,
      },
    )
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
