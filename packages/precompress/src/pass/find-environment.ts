import { OperatorError, type RuntimeEnvironment } from '@serve-dist/manifest'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { type FilePatterns, matchingNames } from '../folder/list-files.ts'

/**
 * The same environment, with its module's path in this folder: frameworks move what Vite wrote.
 *
 * @throws OperatorError where it is not among the files that are served, or more than one file may be it.
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
      ? `is not among the files of ${folder}: whatever moves or leaves out files of the build must keep it`
      : `may be any of ${joinFirstNames(found)} in ${folder}: keep only the one that the scripts import`
  throw new OperatorError('SD_ENVIRONMENT_INVALID', [
    `${path}, the module of virtual:serve-dist/env that scripts of this build import, ${what}`,
  ])
}
