import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from './run-command.mjs'

const cache = fileURLToPath(new URL('../node_modules/.cache/programs', import.meta.url))
/** Debian packages whose name differs from the program. */
const packages = new Map([['varnishd', 'varnish']])

/**
 * Finds an installed program, or unpacks its Debian package into a folder of the repository. This installs nothing, and
 * starts no service. If neither works, it prints a line and returns `undefined`.
 *
 * @param {string} name
 * @returns {Promise<string | undefined>}
 */
export async function findProgram(name) {
  const unpacked = join(cache, name)
  // Servers are often in `sbin`, which is not in the PATH of all users.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  const places = [...folders, join(unpacked, 'usr/sbin'), join(unpacked, 'usr/bin')]
  const find = () => places.map((folder) => join(folder, name)).find((file) => existsSync(file))
  if (find() === undefined && process.platform === 'linux') await unpackDebianPackage(name, unpacked)
  const found = find()
  if (found === undefined) console.error(`✗ ${name} is not available, so its tests are skipped`)
  return found
}

/**
 * Returns the folders of the libraries that were unpacked with a program, for `LD_LIBRARY_PATH`.
 *
 * @param {string} program
 */
export function librariesOf(program) {
  const folder = resolve(program, '../../lib')
  if (!program.startsWith(cache) || !existsSync(folder)) return process.env['LD_LIBRARY_PATH']
  const names = readdirSync(folder).filter((name) => name.endsWith('-linux-gnu'))
  return names.map((name) => join(folder, name)).join(delimiter)
}

/**
 * @param {string} name
 * @param {string} folder
 */
async function unpackDebianPackage(name, folder) {
  await mkdir(join(folder, 'partial'), { recursive: true })
  const options = { cwd: folder, isQuiet: true, timeLimit: 60_000 }
  // With all missing dependencies. Downloading needs neither root nor a lock.
  const quiet = ['--download-only', '--yes', '--no-install-recommends', '-o', 'Debug::NoLocking=1']
  const place = ['-o', `Dir::Cache::archives=${folder}`]
  const download = () =>
    runCommand(['apt-get', 'install', ...quiet, ...place, packages.get(name) ?? name], options)
  if ((await download()).exitCode !== 0 && process.getuid?.() === 0) {
    await runCommand(['apt-get', 'update'], options)
    await download()
  }
  const archives = (await readdir(folder)).filter((file) => file.endsWith('.deb'))
  for (const archive of archives) await runCommand(['dpkg-deb', '--extract', archive, '.'], options)
}
