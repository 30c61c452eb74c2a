import { access, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  OperatorError,
  type Manifest,
  manifestPath,
  parseManifest,
  pendingPath,
  isMissing,
  reasonOf,
} from '@serve-dist/manifest'

/**
 * The manifest of a build, given the build's folder or a copy of its manifest.
 *
 * @throws {@link OperatorError} when there is none, when it cannot be read, or when the folder's last build did not come
 * to its end: then the manifest may be without variants that the build will have.
 */
export async function readBuild(location: string): Promise<Manifest> {
  const isDirectory = await isFolder(location)
  if (isDirectory) await refuseUnfinished(location)
  const file = isDirectory ? join(location, manifestPath) : location
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isDirectory && isMissing(error)) {
      throw new OperatorError(
        'SD_MANIFEST_MISSING',
        [
          `${location}: this folder has no manifest (${manifestPath}); build it with the plugin, or run: serve-dist compress ${location}`,
        ],
        { cause: error },
      )
    }
    throw new OperatorError('SD_FOLDER_UNREADABLE', [`${file}: cannot be read (${reasonOf(error)})`], {
      cause: error,
    })
  })
  try {
    return parseManifest(text)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    const problems = error.problems.map((problem) => `${file}: ${problem}`)
    throw new OperatorError(
      'SD_MANIFEST_INVALID',
      [...problems, `${file}: not a manifest of this release; build again`],
      {
        cause: error,
      },
    )
  }
}

async function refuseUnfinished(folder: string): Promise<void> {
  const isUnfinished = await access(join(folder, pendingPath)).then(
    () => true,
    () => false,
  )
  if (isUnfinished) {
    throw new OperatorError('SD_BUILD_UNFINISHED', [
      `${folder}: the last build or compression did not come to its end (${pendingPath} is there), so its sizes are not known; build again, or run: serve-dist compress ${folder}`,
    ])
  }
}

async function isFolder(location: string): Promise<boolean> {
  try {
    return (await stat(location)).isDirectory()
  } catch (error) {
    const problem = isMissing(error)
      ? 'no such folder or manifest; build first, or name where the build is'
      : `cannot be read (${reasonOf(error)})`
    throw new OperatorError('SD_BUILD_NOT_FOUND', [`${location}: ${problem}`], { cause: error })
  }
}
