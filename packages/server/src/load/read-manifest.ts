import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  buildNotFound,
  buildUnfinished,
  countingPolicyRules,
  loadOptional,
  manifestCure,
  manifestInvalid,
  OperatorError,
  type Manifest,
  manifestPath,
  parseManifest,
  pendingPath,
  recordPath,
  isCompressible,
  type ServingRules,
} from '@serve-dist/manifest'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import { readOptional } from '../files/read-optional.ts'

/** How a folder without a manifest is read. */
export interface ReadManifestOptions {
  /** As the operator named the folder: for commands in messages. */
  readonly directory: string
  /** Whether this is a start, at which more is said, and not a reload. */
  readonly isStart: boolean
  /** Whether this very folder is meant, whatever it looks like. */
  readonly noManifest: boolean
  /** Where they want a policy, pages are read for it. */
  readonly rules: ServingRules
  /** Called with what is not served as its name would have it, and with what is lost without a manifest. */
  readonly onWarning: (message: string) => void
}

/**
 * The manifest of a build; of a folder without one, the description that stands in for it.
 *
 * @throws OperatorError when the folder is missing, is hardly the one that was meant, its last build or compression did
 * not finish, or its manifest cannot be read.
 */
export async function readManifest(root: string, options: ReadManifestOptions): Promise<Manifest> {
  await expectDirectory(root, options)
  const text = await readOptional(join(root, manifestPath))
  if (text === undefined) return await describeFolder(root, options)
  try {
    return parseManifest(text)
  } catch (error) {
    throw error instanceof OperatorError ? manifestInvalid(join(root, manifestPath), error) : error
  }
}

async function describeFolder(
  root: string,
  { directory, isStart, noManifest, rules, onWarning }: ReadManifestOptions,
): Promise<Manifest> {
  if ((await readOptional(join(root, pendingPath))) !== undefined) {
    throw buildUnfinished(directory, await readOptional(join(root, recordPath)))
  }
  // Not before they are needed: who serves a manifest needs none of these modules, a fifth of all.
  const { refuseUnlikelyFolder } = await import('../judge/refuse-unlikely-folder.ts')
  refuseUnlikelyFolder({ directory, root }, noManifest)
  const { describeDirectory } = await loadOptional(
    {
      name: '@serve-dist/precompress',
      neededBy: `${root}: ${noPackage} To serve it without one, the server`,
    },
    async () => await import('@serve-dist/precompress'),
  )
  const described = await describeDirectory(root, {
    onWarning,
    policies: countingPolicyRules([rules.csp]) !== undefined,
  })
  if (isStart) {
    const found = isWorthCompressing(described) ? 'no manifest and no variants found' : 'no manifest found'
    const lost = 'so no rules, no excludes and nothing immutable'
    onWarning(`${directory}: ${found}, ${lost}. ${manifestCure(directory)}`)
  }
  return described
}

/** Where production has no compressor, a copy that lost the manifest is likelier than a folder that never had one. */
const noPackage =
  'no manifest found. If the build wrote one (.serve-dist/manifest.json), copy hidden files too; else run serve-dist compress before the folder is copied.'

/** Whether nobody has compressed what would be smaller: its plugin was forgotten, or never known of. */
function isWorthCompressing({ files }: Manifest): boolean {
  return (
    files.every(({ variants }) => variants.length === 0) &&
    files.some(({ mediaType, size }) => size >= 1024 && isCompressible(mediaType))
  )
}

async function expectDirectory(root: string, { isStart }: ReadManifestOptions): Promise<void> {
  const found = await stat(root).catch((cause: unknown) => {
    if (isNotFoundError(cause)) return undefined
    throw new OperatorError('SD_FOLDER_UNREADABLE', `${root}: cannot be read (${reasonOf(cause)})`, { cause })
  })
  if (found === undefined) {
    const { describeOtherBuilds } = await import('../judge/framework-output.ts')
    const { problems } = buildNotFound(root)
    throw new OperatorError('SD_BUILD_NOT_FOUND', [...problems, ...(isStart ? describeOtherBuilds() : [])])
  }
  if (!found.isDirectory())
    throw new OperatorError('SD_BUILD_NOT_FOUND', [
      `${root}: not a folder; name the folder that the build wrote`,
    ])
}
