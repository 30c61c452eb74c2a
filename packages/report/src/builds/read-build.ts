import { access, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
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
import { isMissing, reasonOf } from '@serve-dist/foundation/files/file-error'

/**
 * The manifest of a build, given the build's folder or a copy of its manifest.
 *
 * @throws {@link OperatorError} when there is none, when it cannot be read, or when the folder's last build did not
 * finish: then the manifest may be without variants that the build will have.
 */
export async function readBuild(location: string): Promise<Manifest> {
  const found = await stat(location).catch((cause: unknown) => {
    throw isMissing(cause) ? buildNotFound(location, { cause }) : unreadable(location, cause)
  })
  const isFolder = found.isDirectory()
  if (isFolder && (await isThere(join(location, pendingPath)))) {
    const record = await readFile(join(location, recordPath), 'utf8').catch(() => undefined)
    throw buildUnfinished(location, record)
  }
  const file = isFolder ? join(location, manifestPath) : location
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw isFolder && isMissing(cause) ? manifestMissing(location, { cause }) : unreadable(file, cause)
  })
  try {
    return parseManifest(text)
  } catch (error) {
    throw error instanceof OperatorError ? manifestInvalid(file, error) : error
  }
}

async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  )
}

function unreadable(path: string, cause: unknown): OperatorError {
  return new OperatorError('SD_FOLDER_UNREADABLE', `${path}: cannot be read (${reasonOf(cause)})`, { cause })
}
