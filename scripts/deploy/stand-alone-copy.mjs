import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand } from '../npm-command.mjs'
import { packPackages } from '../pack-packages.mjs'
import { runCommand } from '../run-command.mjs'

const spa = fileURLToPath(new URL('../../examples/spa', import.meta.url))
const workspaceFile = fileURLToPath(new URL('../../pnpm-workspace.yaml', import.meta.url))

/** @typedef {{ project: string, tarballs: string }} StandAloneCopy */

/**
 * Makes of examples/spa what it would be in a repository of its own: without the workspace, and with a lockfile of
 * npm's. Our packages are not in a registry yet: they come as tarballs, which stand in `../tarballs`.
 *
 * @param {string} directory
 * @returns {Promise<StandAloneCopy>}
 */
export async function standAloneCopy(directory) {
  const project = join(directory, 'spa')
  const tarballs = join(directory, 'tarballs')
  await mkdir(tarballs, { recursive: true })
  const packed = await packPackages(tarballs)
  await cp(spa, project, {
    recursive: true,
    filter: (source) => !['node_modules', 'dist'].includes(basename(source)),
  })
  const ours = new Map(packed.map(({ name, tarball }) => [name, `file:../tarballs/${basename(tarball)}`]))
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
  const flags = ['--package-lock-only', '--no-audit', '--no-fund', '--loglevel=error']
  const { exitCode, output } = await runCommand(npmCommand('install', ...flags), {
    cwd: project,
    environment: { npm_config_local_prefix: undefined, INIT_CWD: undefined },
    isQuiet: true,
  })
  if (exitCode !== 0) throw new Error(`npm could not write the lockfile of ${project}:\n${output}`)
  return { project, tarballs }
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
