import { access, mkdir, readdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../run-command.mjs'

const cache = fileURLToPath(new URL('../../node_modules/.cache/deploy-programs', import.meta.url))

/**
 * A program of the system: where it is installed, else out of Debian's package of the same name, which is unpacked into
 * a folder of ours and installs nothing. `undefined` where there is neither.
 *
 * @param {string} name
 * @returns {Promise<string | undefined>}
 */
export async function findProgram(name) {
  const unpacked = join(cache, name)
  // Where servers are, though not in everybody's PATH.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  const places = [...folders, join(unpacked, 'usr/sbin'), join(unpacked, 'usr/bin')]
  return (
    (await firstIn(places, name)) ??
    ((await unpack(name, unpacked)) ? await firstIn(places, name) : undefined)
  )
}

/**
 * @param {readonly string[]} folders
 * @param {string} name
 */
async function firstIn(folders, name) {
  for (const folder of folders) {
    const file = join(folder, name)
    if (
      folder !== '' &&
      (await access(file).then(
        () => true,
        () => false,
      ))
    )
      return file
  }
  return undefined
}

/**
 * @param {string} name
 * @param {string} folder
 */
async function unpack(name, folder) {
  await mkdir(folder, { recursive: true })
  const options = { cwd: folder, isQuiet: true, timeLimit: 60_000 }
  const { exitCode } = await runCommand(['apt-get', 'download', name], options)
  const archive = (await readdir(folder)).find((file) => file.endsWith('.deb'))
  if (exitCode !== 0 || archive === undefined) return false
  return (await runCommand(['dpkg-deb', '--extract', archive, '.'], options)).exitCode === 0
}
