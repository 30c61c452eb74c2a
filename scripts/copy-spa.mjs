import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand } from './npm-command.mjs'
import { packPackages } from './pack-packages.mjs'
import { runCommand } from './run-command.mjs'

const spa = fileURLToPath(new URL('../examples/spa', import.meta.url))
const workspaceFile = fileURLToPath(new URL('../pnpm-workspace.yaml', import.meta.url))

// `node scripts/copy-spa.mjs FOLDER` makes the context of an image.
const [, program = '', destination] = process.argv
if (program === fileURLToPath(import.meta.url) && destination !== undefined) {
  await copySpa(destination, '--package-lock-only')
}

/**
 * Copies examples/spa into a project without the workspace, and installs it with npm. Our packages are not in a registry
 * yet, so npm installs them from tarballs in the project's folder `tarballs`.
 *
 * @param {string} project A new folder.
 * @param {string[]} flags For `npm install`.
 */
export async function copySpa(project, ...flags) {
  const tarballs = join(project, 'tarballs')
  await mkdir(tarballs, { recursive: true })
  const packed = await packPackages(tarballs)
  await cp(spa, project, {
    recursive: true,
    filter: (source) => !['node_modules', 'dist'].includes(basename(source)),
  })
  const ours = new Map(packed.map(({ name, tarball }) => [name, `file:tarballs/${basename(tarball)}`]))
  const catalog = readCatalog(await readFile(workspaceFile, 'utf8'))
  const file = join(project, 'package.json')
  const manifest = JSON.parse(await readFile(file, 'utf8'))
  for (const kind of ['dependencies', 'devDependencies']) {
    for (const [name, range] of Object.entries(manifest[kind])) {
      manifest[kind][name] = ours.get(name) ?? (range === 'catalog:' ? catalog.get(name) : range)
      if (ours.has(name)) ours.set(name, `$${name}`)
    }
  }
  manifest.overrides = Object.fromEntries(ours)
  await writeFile(file, JSON.stringify(manifest, null, 2))
  await installWithNpm(project, ...flags)
}

/**
 * @param {string} project
 * @param {string[]} flags
 */
export async function installWithNpm(project, ...flags) {
  const command = npmCommand('install', '--no-audit', '--no-fund', '--loglevel=error', ...flags)
  // Otherwise npm would use the folder in which `npx … verify` was started.
  const environment = { npm_config_local_prefix: undefined, INIT_CWD: undefined }
  const { exitCode, output } = await runCommand(command, { cwd: project, environment, isQuiet: true })
  if (exitCode !== 0) throw new Error(`npm install in ${project} failed:\n${output}`)
}

/**
 * Reads the `catalog:` of pnpm-workspace.yaml. A line has two spaces, a name and a range.
 *
 * @param {string} text
 */
function readCatalog(text) {
  const block = /^catalog:\n((?: .*\n)+)/m.exec(text)?.[1] ?? ''
  const entries = block.matchAll(/^ +'?([^':]+)'?: '?([^'\n]+)'?$/gm)
  return new Map(Array.from(entries, ([, name = '', range = '']) => [name, range]))
}
