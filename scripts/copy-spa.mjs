import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand } from './npm-command.mjs'
import { packPackages } from './pack-packages.mjs'
import { runCommand } from './run-command.mjs'

const spa = fileURLToPath(new URL('../examples/spa', import.meta.url))
const workspaceFile = fileURLToPath(new URL('../pnpm-workspace.yaml', import.meta.url))

// `node scripts/copy-spa.mjs FOLDER`, for an image.
const [, program = '', destination] = process.argv
if (program === fileURLToPath(import.meta.url) && destination !== undefined) {
  await copySpa(destination, '--package-lock-only')
}

/**
 * Makes of examples/spa what it would be in a repository of its own: without the workspace, and installed by npm. Our
 * packages are not in a registry yet: they come as tarballs, which stand in its folder `tarballs`.
 *
 * @param {string} project A folder to make.
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
  // npm would take the folder that `npx … verify` was started in for the project.
  const environment = { npm_config_local_prefix: undefined, INIT_CWD: undefined }
  const { exitCode, output } = await runCommand(command, { cwd: project, environment, isQuiet: true })
  if (exitCode !== 0) throw new Error(`npm install in ${project} failed:\n${output}`)
}

/**
 * The `catalog:` of pnpm-workspace.yaml: two spaces, a name, a range.
 *
 * @param {string} text
 */
function readCatalog(text) {
  const block = /^catalog:\n((?: .*\n)+)/m.exec(text)?.[1] ?? ''
  const entries = block.matchAll(/^ +'?([^':]+)'?: '?([^'\n]+)'?$/gm)
  return new Map(Array.from(entries, ([, name = '', range = '']) => [name, range]))
}
