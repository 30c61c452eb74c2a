import type { Manifest } from '@serve-dist/manifest'
import { sendRequest } from './send-request.ts'
import { urlOfFile } from './url-of-file.ts'

/** Returns the paths of a build's files for which two servers differ: in status, entity tag or body. */
export async function findDifferingFiles(manifest: Manifest, first: URL, second: URL): Promise<string[]> {
  const paths = manifest.files.map((file) => file.path)
  const differing = await Promise.all(
    paths.map(async (path) => {
      const answers = await Promise.all([first, second].map((base) => sendRequest(urlOfFile(base, path))))
      const seen = answers.map(
        ({ status, headers, body }) => `${status} ${headers.etag} ${body.toString('base64')}`,
      )
      return new Set(seen).size === 1 ? [] : [path]
    }),
  )
  return differing.flat()
}
