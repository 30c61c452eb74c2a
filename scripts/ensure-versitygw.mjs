import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './run-command.mjs'

const version = 'v1.8.0'
// Outside of the clone: it is the same for all, and takes minutes to build.
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'serve-dist-tests')
const buildTimeLimit = 10 * 60_000

/**
 * The path of a versitygw, a server that speaks S3, which Go builds where it is not there yet; `undefined` where it cannot:
 * what needs it is skipped then, and that is said. Where `CI` is set, that is an error.
 *
 * @returns {Promise<string | undefined>}
 */
export async function ensureVersitygw() {
  const program = join(cache, `versitygw-${version}`)
  if (await isThere(program)) return program
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'building-'))
  try {
    console.log(`▸ Building versitygw ${version} with Go`)
    /** @type {[string, ...string[]]} */
    const command = ['go', 'install', `github.com/versity/versitygw/cmd/versitygw@${version}`]
    const environment = { GOBIN: folder, CGO_ENABLED: '0' }
    const { exitCode, output } = await runCommand(command, {
      environment,
      isQuiet: true,
      timeLimit: buildTimeLimit,
    })
    if (exitCode !== 0) throw new Error(output.trimEnd().split('\n').slice(-5).join('\n'))
    // Another test file may have built it meanwhile: one takes the place of the other.
    await rename(join(folder, 'versitygw'), program)
    return program
  } catch (error) {
    const problem = `✗ Stores in S3 are not tested: versitygw cannot be built here (Go is needed, https://go.dev/dl): ${String(error)}`
    if (process.env['CI'] !== undefined) throw new Error(problem, { cause: error })
    console.error(problem)
    return undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @param {string} path */
async function isThere(path) {
  return await access(path).then(
    () => true,
    () => false,
  )
}
