import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Compiles this package and what it imports, once for all test files: its threads run what was built. */
export default async function setup(): Promise<void> {
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  const folder = fileURLToPath(new URL('../..', import.meta.url))
  const compiling = promisify(execFile)(process.execPath, [join(typescript, 'bin/tsc'), '-b', folder])
  await compiling.catch((error: Error & { stdout?: string }) => {
    throw new Error(`the package does not compile:\n${error.stdout ?? error.message}`, { cause: error })
  })
}
