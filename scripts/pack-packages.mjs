import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pnpmCommand } from './pnpm-command.mjs'
import { runCommand } from './run-command.mjs'

const packages = fileURLToPath(new URL('../packages', import.meta.url))

/** @typedef {{ name: string, version: string, directory: string, tarball: string }} PackedPackage */

/**
 * Packs the current build of every published package into tarballs in one folder.
 *
 * @param {string} destination
 * @returns {Promise<PackedPackage[]>}
 * @throws Error with pnpm's output if a package cannot be packed.
 */
export async function packPackages(destination) {
  /** @type {PackedPackage[]} */
  const packed = []
  for (const folder of await readdir(packages)) {
    const directory = join(packages, folder)
    const {
      name,
      version,
      private: isPrivate,
    } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
    if (isPrivate === true) continue
    const tarball = join(destination, `${folder}.tgz`)
    const { exitCode, output } = await runCommand(pnpmCommand('pack', '--out', tarball), {
      cwd: directory,
      isQuiet: true,
    })
    if (exitCode !== 0) throw new Error(`pnpm pack of ${name} failed:\n${output}`)
    packed.push({ name, version, directory, tarball })
  }
  return packed
}
