import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { npmCommand } from './npm-command.mjs'
import { runCommand } from './run-command.mjs'

/** @import { PackedPackage } from './pack-packages.mjs' */

const server = '@serve-dist/server'
const mostPackages = 10
const mostBytes = 3_000_000

/**
 * Installs the packed server as a production image would, without what is optional, and tells what is too much.
 *
 * @param {readonly PackedPackage[]} packed
 * @param {string} directory A folder to install it in; made here.
 * @returns {Promise<string[]>}
 */
export async function problemsOfInstallation(packed, directory) {
  await install(packed, directory)
  const packages = await readInstalled(directory)
  const bytes = await sizeOf(join(directory, 'node_modules'))
  const names = Object.keys(packages).map((path) => path.replace(/^node_modules\//, ''))
  console.log(
    `  an installation: ${names.length} packages, ${(bytes / 1e6).toFixed(2)} MB: ${names.join(', ')}`,
  )

  const problems = []
  if (names.length > mostPackages)
    problems.push(`installs ${names.length} packages, more than ${mostPackages}`)
  if (bytes > mostBytes) problems.push(`installs ${bytes} bytes, more than ${mostBytes}`)
  for (const [path, { hasInstallScript }] of Object.entries(packages)) {
    if (hasInstallScript === true) problems.push(`${path} has an install script`)
  }
  return [...problems, ...(await problemsOfCommand(directory))]
}

/**
 * Only what the server names itself is to be installed; of ours, the registry has not these very versions.
 *
 * @param {readonly PackedPackage[]} packed
 * @param {string} directory
 */
async function install(packed, directory) {
  const files = packed.map(({ name, tarball }) => [name, `file:${tarball.replaceAll('\\', '/')}`])
  const { [server]: own, ...overrides } = Object.fromEntries(files)
  await mkdir(directory)
  await writeFile(
    join(directory, 'package.json'),
    JSON.stringify({ private: true, dependencies: { [server]: own }, overrides }),
  )
  const flags = ['--omit=dev', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const { exitCode, output } = await runCommand(npmCommand('install', ...flags), {
    cwd: directory,
    // npm would take the folder that the gate was started in for the project.
    environment: { npm_config_local_prefix: undefined, INIT_CWD: undefined },
    isQuiet: true,
  })
  if (exitCode !== 0) throw new Error(`npm install of the packed server failed:\n${output}`)
}

/**
 * What stands in `node_modules`, as npm notes it there.
 *
 * @param {string} directory
 * @returns {Promise<Record<string, { hasInstallScript?: boolean }>>}
 */
async function readInstalled(directory) {
  const text = await readFile(join(directory, 'node_modules/.package-lock.json'), 'utf8')
  return JSON.parse(text).packages
}

/** @param {string} directory */
async function sizeOf(directory) {
  let bytes = 0
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}

/**
 * The command starts and compresses with what is there.
 *
 * @param {string} directory
 */
async function problemsOfCommand(directory) {
  await mkdir(join(directory, 'public'))
  await writeFile(join(directory, 'public/index.html'), '<!doctype html><title>page</title>\n'.repeat(60))
  const program = join(directory, 'node_modules', server, 'bin/serve-dist.js')
  const { exitCode, output } = await runCommand([process.execPath, program, 'compress', 'public'], {
    cwd: directory,
    isQuiet: true,
  })
  const isTold = output.includes('zstd is left out') === (process.versions['zstd'] === undefined)
  return exitCode === 0 && output.includes('1 file, ') && isTold
    ? []
    : [`serve-dist compress says:\n${output}`]
}
