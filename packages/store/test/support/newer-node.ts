import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Node.js versions that can encode deltas: 22 only with zstd, 24 also with brotli. */
export type NewerNode = 'node22' | 'node24'

/**
 * Returns the path of a Node.js version that can encode deltas. Returns `undefined` and prints a notice if there is no
 * build for this machine.
 */
export function newerNode(name: NewerNode): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.error(`✗ Deltas are not tested: ${name} is a program for Linux on x64`)
    return undefined
  }
  return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin/node')
}
