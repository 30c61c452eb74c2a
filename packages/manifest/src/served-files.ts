import { isSourceMap } from './is-source-map.ts'
import type { Manifest, ManifestFile } from './manifest.ts'

/** Files of a build that configure its server and are not served. */
export const servingFiles: ReadonlySet<string> = new Set(['_headers', '_redirects'])

/** Returns the files that a server sends: without those that configure it, and without denied source maps. */
export function servedFiles({
  files,
  serving,
}: Pick<Manifest, 'files' | 'serving'>): readonly ManifestFile[] {
  const isDenied = (path: string): boolean => serving?.sourceMaps === 'deny' && isSourceMap(path)
  return files.filter(({ path }) => !servingFiles.has(path) && !isDenied(path))
}
