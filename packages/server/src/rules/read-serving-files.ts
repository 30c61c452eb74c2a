import type { Manifest } from '@serve-dist/manifest'
import { summarizeProblems } from './summarize-problems.ts'
import { parseHeadersFile } from '../site/parse-headers-file.ts'
import { parseRedirectsFile } from '../site/parse-redirects-file.ts'
import type { ServingSources } from '../site/resolve-serving.ts'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'

/** Reads `_headers` and `_redirects` of a build. Unsupported features cause warnings. */
export function readServingFiles(
  { files }: Manifest,
  stored: ReadonlyMap<ManifestEntry, StoredBytes>,
  onWarning: (message: string) => void,
): Pick<ServingSources, 'headersFile' | 'redirectsFile'> {
  const read = (name: string): string => {
    const file = files.find(({ path }) => path === name)
    // Uses the verified bytes, because the file may have changed since.
    return new TextDecoder().decode(file && stored.get(file)?.body)
  }
  const headers = parseHeadersFile(read('_headers'))
  const redirects = parseRedirectsFile(read('_redirects'))
  for (const { problems } of [headers, redirects])
    summarizeProblems(problems).forEach((problem) => onWarning(problem))
  return { headersFile: headers.rules, redirectsFile: redirects.rules }
}
