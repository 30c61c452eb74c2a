import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
// The build includes the packages that these import.
const packages = ['server', 'store', 'vite'].map((name) => join(root, 'packages', name))

/** Builds the packages once for all test files because commands and threads run built code. */
export default async function setup(): Promise<void> {
  // `pnpm verify` has already built them.
  if (process.env['SERVE_DIST_IS_BUILT'] !== undefined) return
  await run('typescript', 'bin/tsc', ['-b', ...packages])
  await run('rolldown', 'bin/cli.mjs', ['-c'])
}

async function run(name: string, program: string, args: readonly string[]): Promise<void> {
  const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  const running = promisify(execFile)(process.execPath, [join(folder, program), ...args], { cwd: root })
  await running.catch((error: Error & { stdout?: string }) => {
    throw new Error(`the packages do not build:\n${error.stdout ?? error.message}`, { cause: error })
  })
}
