import { mkdir, readdir } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../scripts/run-command.mjs'

const cache = fileURLToPath(new URL('../../node_modules/.cache/programs', import.meta.url))

/**
 * A program of the system: where it is installed, else out of Debian's packages, which are unpacked into a folder of ours
 * and install nothing. `undefined` where there is neither.
 *
 * @param packages - with the program, and the libraries that few systems have.
 */
export async function findProgram(
  name: string,
  packages: readonly string[] = [name],
): Promise<string | undefined> {
  const unpacked = path.join(cache, name)
  // Where servers are, though not in everybody's PATH.
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']
  const places = [...folders, path.join(unpacked, 'usr/sbin'), path.join(unpacked, 'usr/bin')]
  const find = () => places.map((folder) => path.join(folder, name)).find((file) => existsSync(file))
  const found = find()
  if (found !== undefined || process.platform !== 'linux') return found
  await unpackDebianPackages(packages, unpacked)
  return find()
}

async function unpackDebianPackages(names: readonly string[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const options = { cwd: folder, isQuiet: true, timeLimit: 60_000 }
  await runCommand(['apt-get', 'download', ...names], options)
  const archives = (await readdir(folder)).filter((file) => file.endsWith('.deb'))
  for (const archive of archives) await runCommand(['dpkg-deb', '--extract', archive, '.'], options)
}
