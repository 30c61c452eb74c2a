import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { packPackages } from '../../scripts/pack-packages.mjs'
import { runCommand } from '../../scripts/run-command.mjs'
import { npmCommand } from '../../scripts/npm-command.mjs'

const spa = fileURLToPath(new URL('../../examples/spa', import.meta.url))
const workspaceFile = fileURLToPath(new URL('../../pnpm-workspace.yaml', import.meta.url))

/** Copies examples/spa into an empty folder and installs it there with npm, our packages from tarballs. */
export async function installPackedSpa(directory: string): Promise<string> {
  const project = path.join(directory, 'spa')
  const tarballs = path.join(directory, 'tarballs')
  await mkdir(tarballs, { recursive: true })
  const packed = await packPackages(tarballs)
  await cp(spa, project, {
    recursive: true,
    filter: (source) => !['node_modules', 'dist'].includes(path.basename(source)),
  })
  const manifestFile = path.join(project, 'package.json')
  const manifest: PackageManifest = JSON.parse(await readFile(manifestFile, 'utf8'))
  const catalog = readCatalog(await readFile(workspaceFile, 'utf8'))
  const named = { ...manifest.dependencies, ...manifest.devDependencies }
  const dependencies = Object.entries(named)
    .filter(([name]) => !packed.some((item) => item.name === name))
    .map(([name, range]) => [name, range === 'catalog:' ? catalog.get(name) : range])
  const ours = packed.map(({ name, tarball }) => [name, `file:${tarball.replaceAll('\\', '/')}`])
  const rewritten = {
    ...manifest,
    devDependencies: undefined,
    dependencies: Object.fromEntries([...dependencies, ...ours]),
  }
  await writeFile(manifestFile, JSON.stringify(rewritten, null, 2))
  const install = npmCommand('install', '--no-audit', '--no-fund', '--loglevel=error')
  // npm would take the folder that `npx … verify` was started in for the project.
  const environment = { npm_config_local_prefix: undefined, INIT_CWD: undefined }
  const { exitCode, output } = await runCommand(install, { cwd: project, environment, isQuiet: true })
  if (exitCode !== 0) throw new Error(`npm install of the packed packages failed:\n${output}`)
  return project
}

interface PackageManifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** The `catalog:` of pnpm-workspace.yaml: two spaces, a name, a range. */
function readCatalog(text: string): Map<string, string> {
  const block = /^catalog:\n((?: .*\n)+)/m.exec(text)?.[1] ?? ''
  const entries = block.matchAll(/^ +'?([^':]+)'?: '?([^'\n]+)'?$/gm)
  return new Map(Array.from(entries, ([, name = '', range = '']) => [name, range]))
}
