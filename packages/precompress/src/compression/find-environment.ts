import { OperatorError, type RuntimeEnvironment } from '@serve-dist/manifest'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { type FilePatterns, matchingNames } from '../folder/list-files.ts'

/**
 * Finds the environment module in this folder, because frameworks move the files of Vite, and returns the environment
 * with its path.
 *
 * @throws OperatorError if no served file or more than one file matches.
 */
export async function findEnvironment(
  folder: string,
  environment: RuntimeEnvironment,
  patterns: FilePatterns,
): Promise<RuntimeEnvironment> {
  const { path } = environment
  const found = (await matchingNames(folder, patterns)).filter((name) => `/${name}`.endsWith(`/${path}`))
  if (found.includes(path)) return environment
  const [place] = found
  if (place !== undefined && found.length === 1) return { ...environment, path: place }
  const what =
    place === undefined
      ? `is not among the files of ${folder}. Keep it in the build: do not exclude it, and copy it with the other files.`
      : `may be any of ${joinFirstNames(found)} in ${folder}. Keep only the file that the scripts import.`
  throw new OperatorError('SD_ENVIRONMENT_INVALID', [
    `${path}: this module of virtual:serve-dist/env ${what}`,
  ])
}
