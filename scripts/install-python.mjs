import { createHash } from 'node:crypto'
import { access, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from './run-command.mjs'

const caches = fileURLToPath(new URL('../node_modules/.cache', import.meta.url))
const isWindows = process.platform === 'win32'

/**
 * @typedef {object} PythonTools
 * @property {string} title What is installed, for the terminal.
 * @property {string} name Of the folder in the cache.
 * @property {string} requirements The file that names them, for pip.
 * @property {string} proof Code that ends well only where they are there.
 */

/**
 * A Python that has tools from PyPI: installed once into a folder of their own. `undefined`, with the reason on
 * standard output, where that cannot be done.
 *
 * @param {PythonTools} tools
 * @returns {Promise<string | undefined>}
 */
export async function installPython({ title, name, requirements, proof }) {
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12)
  const environment = join(caches, name, digest)
  const python = join(environment, isWindows ? 'Scripts/python.exe' : 'bin/python')
  if (await isInstalled(python, proof)) return python

  console.log(`▸ Installing ${title} from PyPI`)
  await rm(environment, { recursive: true, force: true })
  /** @type {[string, ...string[]][]} */
  const steps = [
    [isWindows ? 'python' : 'python3', '-m', 'venv', environment],
    [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements],
  ]
  for (const step of steps) {
    const { exitCode, output } = await runCommand(step, { isQuiet: true, timeLimit: 300_000 })
    if (exitCode === 0) continue
    console.log(output.trimEnd().split('\n').slice(-5).join('\n'))
    console.log(`\`${step.join(' ')}\` failed; it takes Python 3.10 or later with venv, and PyPI`)
    await rm(environment, { recursive: true, force: true })
    return undefined
  }
  return python
}

/**
 * @param {string} python
 * @param {string} proof
 */
async function isInstalled(python, proof) {
  try {
    await access(python)
  } catch {
    // Not there yet.
    return false
  }
  const command = /** @type {const} */ ([python, '-c', proof])
  return (await runCommand(command, { isQuiet: true })).exitCode === 0
}
