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

export interface ReadManifestOptions {
  /** The folder as the operator named it, for commands in messages. */
  readonly directory: string
  /** Whether this is a start, which warns more than a reload. */
  readonly isStart: boolean
  /** Whether to accept a folder that looks wrong. */
  readonly noManifest: boolean
  /** Rules, because a policy needs the hashes of pages. */
  readonly rules: ServingRules
  readonly onWarning: (message: string) => void
}

/**
 * Reads the manifest of a build, or describes a folder without one.
 *
 * @throws OperatorError if the folder is missing or looks wrong, if its last build or compression did not finish, or if
 * the manifest is invalid.
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
  // Loaded on demand, because these modules are a fifth of all code and a manifest needs none of them.
  const { refuseUnlikelyFolder } = await import('../judge/refuse-unlikely-folder.ts')
  refuseUnlikelyFolder({ directory, root }, noManifest)
  const { describeDirectory } = await loadOptional(
    {
      name: '@serve-dist/precompress',
      neededBy: `${root}: ${noPackage} To serve the folder without a manifest, the server`,
    },
    async () => await import('@serve-dist/precompress'),
  )
  const described = await describeDirectory(root, {
    onWarning,
    policies: countingPolicyRules([rules.csp]) !== undefined,
  })
  if (isStart) {
    const found = isWorthCompressing(described) ? 'no manifest and no variants found' : 'no manifest found'
    const lost = "so the plugin's rules, the excluded files and the hashed names of the build are unknown"
    onWarning(`${directory}: ${found}, ${lost}. ${manifestCure(directory)}`)
  }
  return described
}

/** Without the compressor, the machine is probably in production, and a copy has probably lost the manifest. */
const noPackage =
  'no manifest found. If the build wrote one (.serve-dist/manifest.json), copy hidden files as well. Otherwise run serve-dist compress before you copy the folder.'

/** Whether compression would help and no program has compressed the folder. */
function isWorthCompressing({ files }: Manifest): boolean {
  return (
    files.every(({ variants }) => variants.length === 0) &&
    files.some(({ mediaType, size }) => size >= 1024 && isCompressible(mediaType))
  )
}

async function expectDirectory(root: string, { isStart }: ReadManifestOptions): Promise<void> {
  const found = await stat(root).catch((cause: unknown) => {
    if (isNotFoundError(cause)) return undefined
    throw new OperatorError(
      'SD_FOLDER_UNREADABLE',
      `${root}: cannot read this folder (${reasonOf(cause)}). Let this user read it.`,
      { cause },
    )
  })
  if (found === undefined) {
    const { describeOtherBuilds } = await import('../judge/framework-output.ts')
    const { problems } = buildNotFound(root)
    throw new OperatorError('SD_BUILD_NOT_FOUND', [...problems, ...(isStart ? describeOtherBuilds() : [])])
  }
  if (!found.isDirectory())
    throw new OperatorError('SD_BUILD_NOT_FOUND', [
      `${root}: this is not a folder. Name the folder that the build wrote.`,
    ])
}
