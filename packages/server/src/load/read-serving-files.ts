import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Manifest } from '@serve-dist/manifest'
import { parseHeadersFile } from '../site/parse-headers-file.ts'
import { parseRedirectsFile } from '../site/parse-redirects-file.ts'
import type { ServingSources } from '../site/resolve-serving.ts'

/** Files of a build that are for whoever serves it, and not to be served. */
export const servingFiles: ReadonlySet<string> = new Set(['_headers', '_redirects'])

/**
 * Reads `_headers` and `_redirects`, where the build has them; what they ask for and nobody here does is a
 * warning.
 */
export async function readServingFiles(
  root: string,
  manifest: Manifest,
  onWarning: (message: string) => void,
): Promise<Pick<ServingSources, 'headersFile' | 'redirectsFile'>> {
  const read = async (name: string): Promise<string> => {
    return manifest.files.some(({ path }) => path === name) ? readText(join(root, name)) : ''
  }
  const headers = parseHeadersFile(await read('_headers'))
  const redirects = parseRedirectsFile(await read('_redirects'))
  for (const problem of [...headers.problems, ...redirects.problems]) onWarning(problem)
  return { headersFile: headers.rules, redirectsFile: redirects.rules }
}

/** One that is gone is told of later, with whatever else the build lacks. */
async function readText(file: string): Promise<string> {
  try {
    return withoutMark(await readFile(file, 'utf8'))
  } catch (error) {
    if (isMissing(error)) return ''
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** Editors of some systems begin a file with a byte order mark. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '')
}
