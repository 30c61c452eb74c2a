import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Reads a file of this package that becomes part of users' builds. */
export function readPackageFile(path: string): string {
  const own = createRequire(import.meta.url).resolve('@serve-dist/vite/package.json')
  return readFileSync(join(dirname(own), path), 'utf8')
}
