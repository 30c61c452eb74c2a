import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../scripts/run-command.mjs'

const cwd = fileURLToPath(new URL('.', import.meta.url))

/**
 * Why the crates cannot be compiled here, in one line; `undefined` where they can.
 *
 * @returns {Promise<string | undefined>}
 */
export async function whyNoCargo() {
  if (process.platform === 'win32') return 'the native engine is not for Windows'
  const manifest = await readFile(new URL('Cargo.toml', import.meta.url), 'utf8')
  const [, oldest = ''] = /^rust-version = "(.+)"/m.exec(manifest) ?? []
  const { output } = await runCommand(['cargo', '-vV'], { cwd, isQuiet: true })
  const [, version = ''] = /^release: (\S+)/m.exec(output) ?? []
  const [, host = ''] = /^host: (\S+)/m.exec(output) ?? []
  if (version === '') return `there is no cargo here (Rust ${oldest} or newer)`
  if (isOlder(version, oldest)) return `cargo ${version} is older than ${oldest}`
  const c = process.env['CC']?.trim() || 'cc'
  const linker = process.env[`CARGO_TARGET_${host.toUpperCase().replaceAll('-', '_')}_LINKER`]
  // A linker that is named may be none that compiles, and is its owner's to mend.
  for (const compiler of linker === undefined ? new Set([c, 'cc']) : [c]) {
    if (!(await canLink(compiler))) return `no C compiler works here (${compiler})`
  }
  // Those of other platforms may be missing where there is no network. Without one, the defaults take minutes to tell.
  const { exitCode } = await runCommand(['cargo', 'fetch', '--locked', '--quiet', '--target', host], {
    cwd,
    environment: { CARGO_NET_RETRY: '1', CARGO_HTTP_TIMEOUT: '15' },
    isQuiet: true,
    timeLimit: 5 * 60_000,
  })
  return exitCode === 0 ? undefined : 'its crates are not here and cannot be fetched'
}

/**
 * Whether it makes a library: it may be there without the headers and objects of a C library, or without a linker.
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
