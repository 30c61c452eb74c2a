// `npx --yes pnpm@12 exec node scripts/prepare-image.mjs FOLDER` makes the context of an image with the packages of this
// commit, and prints the names of these packages for assemble.sh.
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeBinaryPackage } from '../packages/engine/binary-packages.mjs'
import { packPackages } from './pack-packages.mjs'

const docker = fileURLToPath(new URL('../deploy/docker', import.meta.url))
const engine = fileURLToPath(new URL('../packages/engine', import.meta.url))

const [, program = '', destination] = process.argv
if (program === fileURLToPath(import.meta.url) && destination !== undefined) {
  console.log((await prepareImage(destination)).join(' '))
}

/**
 * Copies deploy/docker into a folder, and adds the packages that the image contains. The binary of the native engine is one
 * of them if it was compiled.
 *
 * @param {string} folder
 * @returns {Promise<string[]>} Paths in the folder.
 */
export async function prepareImage(folder) {
  const tarballs = join(folder, 'tarballs')
  await mkdir(tarballs, { recursive: true })
  await cp(docker, folder, { recursive: true })
  const packed = await packPackages(tarballs)
  const specifiers = packed
    .filter(({ name }) => name !== '@serve-dist/vite')
    .map(({ tarball }) => tarball.replace(folder, '.'))
  const addon = join(engine, 'dist/engine.node')
  if (!existsSync(addon)) return specifiers
  const manifest = JSON.parse(await readFile(join(engine, 'package.json'), 'utf8'))
  await writeBinaryPackage(`linux-${process.arch}-gnu`, addon, manifest, join(folder, 'binary'))
  return [...specifiers, './binary']
}
