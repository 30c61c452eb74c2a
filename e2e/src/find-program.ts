import { mkdir, readdir } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../scripts/run-command.mjs'

const cache = fileURLToPath(new URL('../../node_modules/.cache/programs', import.meta.url))

/**
 * A program of the system: where it is installed, else out of Debian's package of the same name, which is unpacked into
 * a folder of ours and installs nothing. `undefined` where there is neither.
 */
export async function findProgram(name: string): Promise<string | undefined> {
  const unpacked = path.join(cache, name)
  // Where servers are, though not in everybody's PATH.
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']
  const places = [...folders, path.join(unpacked, 'usr/sbin'), path.join(unpacked, 'usr/bin')]
  const find = () => places.map((folder) => path.join(folder, name)).find((file) => existsSync(file))
  const found = find()
  if (found !== undefined || process.platform !== 'linux') return found
  await unpackDebianPackage(name, unpacked)
  return find()
}

async function unpackDebianPackage(name: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const options = { cwd: folder, isQuiet: true, timeLimit: 60_000 }
  await runCommand(['apt-get', 'download', name], options)
  const archive = (await readdir(folder)).find((file) => file.endsWith('.deb'))
  if (archive !== undefined) await runCommand(['dpkg-deb', '--extract', archive, '.'], options)
}
