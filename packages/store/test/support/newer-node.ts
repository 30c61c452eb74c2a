import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Versions of Node that make deltas: 22 with zstd alone, 24 with brotli, too. */
export type NewerNode = 'node22' | 'node24'

/**
 * The program of a Node that makes deltas, whichever runs the tests; `undefined` where its package has none for this
 * machine: what needs it is skipped then, and that is said.
 */
export function newerNode(name: NewerNode): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.error(`✗ Deltas are not tested: ${name} is a program for Linux on x64`)
    return undefined
  }
  return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin/node')
}
