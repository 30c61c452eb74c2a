import { join } from 'node:path'
import type { Manifest } from '@serve-dist/manifest'
import { readOptional } from '../files/read-optional.ts'
import { foldProblems } from './fold-problems.ts'
import { parseHeadersFile } from '../site/parse-headers-file.ts'
import { parseRedirectsFile } from '../site/parse-redirects-file.ts'
import type { ServingSources } from '../site/resolve-serving.ts'

/** Files of a build that configure its server and are not served. */
export const servingFiles: ReadonlySet<string> = new Set(['_headers', '_redirects'])

/** Reads `_headers` and `_redirects`, where the build has them; what they ask for and we do not support is a warning. */
export async function readServingFiles(
  root: string,
  manifest: Manifest,
  onWarning: (message: string) => void,
): Promise<Pick<ServingSources, 'headersFile' | 'redirectsFile'>> {
  const read = async (name: string): Promise<string> => {
    const isListed = manifest.files.some(({ path }) => path === name)
    // A missing file is reported later, with whatever else the build lacks.
    return (isListed ? await readOptional(join(root, name)) : undefined) ?? ''
  }
  const headers = parseHeadersFile(await read('_headers'))
  const redirects = parseRedirectsFile(await read('_redirects'))
  for (const { problems } of [headers, redirects])
    foldProblems(problems).forEach((problem) => onWarning(problem))
  return { headersFile: headers.rules, redirectsFile: redirects.rules }
}
