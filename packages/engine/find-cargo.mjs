import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../scripts/run-command.mjs'

const cwd = fileURLToPath(new URL('.', import.meta.url))

/**
 * Returns the reason why the crates cannot be compiled, in one line, or `undefined`.
 *
 * @returns {Promise<string | undefined>}
 */
export async function findCargoProblem() {
  if (process.platform === 'win32') return 'the native engine does not support Windows'
  const manifest = await readFile(new URL('Cargo.toml', import.meta.url), 'utf8')
  const [, oldest = ''] = /^rust-version = "(.+)"/m.exec(manifest) ?? []
  const { output } = await runCommand(['cargo', '-vV'], { cwd, isQuiet: true })
  const [, version = ''] = /^release: (\S+)/m.exec(output) ?? []
  const [, host = ''] = /^host: (\S+)/m.exec(output) ?? []
  if (version === '') return `cargo is not installed (Rust ${oldest} or newer)`
  if (isOlder(version, oldest)) return `cargo ${version} is older than ${oldest}`
  const c = process.env['CC']?.trim() || 'cc'
  const linker = process.env[`CARGO_TARGET_${host.toUpperCase().replaceAll('-', '_')}_LINKER`]
  // Cargo uses the configured linker, which may not be able to compile this check. Do not test it.
  for (const compiler of linker === undefined ? new Set([c, 'cc']) : [c]) {
    if (!(await canLink(compiler))) return `the C compiler does not work (${compiler})`
  }
  // Only fetch crates for this platform. Without a network, the default retries of cargo take minutes.
  const { exitCode } = await runCommand(['cargo', 'fetch', '--locked', '--quiet', '--target', host], {
    cwd,
    environment: { CARGO_NET_RETRY: '1', CARGO_HTTP_TIMEOUT: '15' },
    isQuiet: true,
    timeLimit: 5 * 60_000,
  })
  return exitCode === 0 ? undefined : 'cargo cannot download the crates'
}

/**
 * Returns whether the compiler can build a library. The headers of the C library or the linker may be missing.
 *
 * @param {string} compiler
 */
async function canLink(compiler) {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-cc-'))
  const [program = '', ...words] = compiler.split(/\s+/)
  const args = [
    ...words,
    ...'-shared -include stdlib.h -x c /dev/null -o'.split(' '),
    join(folder, 'library'),
  ]
  const { exitCode } = await runCommand([program, ...args], { isQuiet: true })
  await rm(folder, { recursive: true })
  return exitCode === 0
}

/**
 * @param {string} version
 * @param {string} other
 */
function isOlder(version, other) {
  return version.localeCompare(other, 'en', { numeric: true }) < 0
}
