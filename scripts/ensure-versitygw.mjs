import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './run-command.mjs'

const version = 'v1.8.0'
// Outside of the clone: all clones can share it, and the build takes minutes.
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'serve-dist-tests')
const program = join(cache, `versitygw-${version}`)

/**
 * Builds versitygw, an S3 server, with Go if it does not exist yet.
 *
 * @returns {Promise<string | undefined>} Its path; `undefined` if it cannot be built: tests that need it are skipped.
 * @throws Error instead if `CI` is set.
 */
export async function ensureVersitygw() {
  if (existsSync(program)) return program
  console.log(`▸ Building versitygw ${version} with Go`)
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'building-'))
  const { exitCode, output } = await runCommand(
    ['go', 'install', `github.com/versity/versitygw/cmd/versitygw@${version}`],
    { environment: { GOBIN: folder, CGO_ENABLED: '0' }, isQuiet: true, timeLimit: 10 * 60_000 },
  )
  // Another test file may have built it at the same time. The last rename wins.
  if (exitCode === 0) await rename(join(folder, 'versitygw'), program)
  await rm(folder, { recursive: true, force: true })
  if (exitCode === 0) return program
  const reason = output.trimEnd().split('\n').slice(-5).join('\n')
  const problem = `✗ Stores in S3 are not tested: cannot build versitygw (it needs Go, https://go.dev/dl): ${reason}`
  if (process.env['CI'] !== undefined) throw new Error(problem)
  console.error(problem)
  return undefined
}
