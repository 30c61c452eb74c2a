import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runCommand } from '../run-command.mjs'

const script = Array.from(
  { length: 400 },
  (_line, index) => `export const value${index} = ${index * 7919}\n`,
).join('')
const page = `<!doctype html>\n<html lang="en"><title>Page</title><p>${'A page of some length. '.repeat(100)}</p></html>\n`
const picture = Buffer.concat(
  Array.from({ length: 100 }, (_block, index) => createHash('sha256').update(String(index)).digest()),
)

/** @type {Readonly<Record<string, string | Buffer>>} */
const shared = {
  'index.html': page,
  'app.js': script,
  'assets/app-Bq3kX9aZ.js': script,
  'small.txt': 'small\n',
  'empty.txt': '',
  'picture.bin': picture,
}
const pages = { 'about.html': page, 'guide/index.html': page, '404.html': page }

/**
 * Writes a single-page application, and pages below `/app/`, and compresses both with the command.
 *
 * @param {string} directory
 * @param {string} bin
 * @returns {Promise<{ spa: string, mpa: string }>} Their folders.
 */
export async function writeSites(directory, bin) {
  const [spa, mpa] = [join(directory, 'spa'), join(directory, 'mpa')]
  await writeSite(spa, shared, [bin])
  await writeSite(mpa, { ...shared, ...pages }, [bin, '--base', '/app/'])
  return { spa, mpa }
}

/**
 * @param {string} directory
 * @param {Readonly<Record<string, string | Buffer>>} files
 * @param {[bin: string, ...flags: string[]]} command
 */
async function writeSite(directory, files, [bin, ...flags]) {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), content)
  }
  const command = /** @type {const} */ ([process.execPath, bin, 'compress', directory, ...flags])
  const { exitCode, output } = await runCommand(command, { isQuiet: true })
  if (exitCode !== 0) throw new Error(`serve-dist compress failed:\n${output}`)
}
