import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
// A separate file, because code that answers requests must not import file system code.
import {
  buildNotFound,
  buildUnfinished,
  type Manifest,
  manifestInvalid,
  manifestMissing,
  manifestPath,
  OperatorError,
  parseManifest,
  pendingPath,
  recordPath,
} from '@serve-dist/manifest'

/**
 * Reads the manifest of a finished build.
 *
 * @throws OperatorError if the folder does not exist, its last build or compression did not finish, or it has no
 * readable manifest.
 */
export async function readBuildManifest(directory: string): Promise<Manifest> {
  const found = await stat(directory).catch((cause: unknown) => {
    throw isNotFoundError(cause) ? buildNotFound(resolve(directory), { cause }) : unreadable(directory, cause)
  })
  if (!found.isDirectory()) throw buildNotFound(resolve(directory))
  // A running or killed compression step may not have written all variants.
  if ((await readIfThere(join(directory, pendingPath))) !== undefined) {
    throw buildUnfinished(directory, await readIfThere(join(directory, recordPath)))
  }
  const file = join(directory, manifestPath)
  const text = await readIfThere(file)
  if (text === undefined) throw manifestMissing(directory)
  return parseManifestOf(file, text)
}

/** Reads a copy of a manifest. */
export async function readManifestFile(file: string): Promise<Manifest> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw unreadable(file, cause)
  })
  return parseManifestOf(file, text)
}

function parseManifestOf(file: string, text: string): Manifest {
  try {
    return parseManifest(text)
  } catch (error) {
    throw error instanceof OperatorError ? manifestInvalid(file, error) : error
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (isNotFoundError(cause)) return undefined
    throw unreadable(file, cause)
  }
}

function unreadable(path: string, cause: unknown): OperatorError {
  return new OperatorError(
    'SD_FOLDER_UNREADABLE',
    `${path}: cannot read this file (${reasonOf(cause)}). Let this user read it.`,
    { cause },
  )
}
