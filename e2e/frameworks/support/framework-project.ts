import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { pnpmCommand } from '../../../scripts/pnpm-command.mjs'
import { runCommand } from '../../../scripts/run-command.mjs'
import { findNode } from './find-node.ts'
import type { Dependencies } from './framework-versions.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
// At the same depth as `examples`, so that relative links to the packages stay valid.
const copies = path.join(root, '.frameworks')
const fixtures = 'e2e/frameworks/fixtures'

/** A copy of an example with its own dependencies, which a test may change and build. */
export interface FrameworkProject {
  readonly folder: string
  /** The installed command `serve-dist` of this project. */
  readonly command: readonly [string, string]
  /** Writes files, relative to the folder. `undefined` deletes a file. */
  write(files: Readonly<Record<string, string | undefined>>): Promise<void>
  /** Runs the project's own script, by default `build`. Returns its output. */
  build(script?: string): Promise<string>
  /** Runs `serve-dist compress`. Returns its output. */
  compress(folder: string): Promise<string>
  /** Runs a command in the project. Returns its output, or throws if the command fails. */
  run(command: readonly [string, ...string[]]): Promise<string>
  /** Returns the version of an installed dependency. */
  versionOf(name: string): Promise<string>
  remove(): Promise<void>
}

/** Copies `examples/<name>` and installs the dependencies of its lockfile, or the given ones instead. */
export function prepareProject(name: string, dependencies: Dependencies = {}): Promise<FrameworkProject> {
  return prepare(name, [`examples/${name}`], dependencies)
}

/** Copies the shared fixture and `fixtures/<name>` over it, for applications that are no examples. */
export function prepareFixture(name: string, base = `${fixtures}/base`): Promise<FrameworkProject> {
  return prepare(name, [base, `${fixtures}/${name}`])
}

async function prepare(
  name: string,
  sources: readonly string[],
  dependencies: Dependencies = {},
): Promise<FrameworkProject> {
  await mkdir(copies, { recursive: true })
  const folder = await mkdtemp(path.join(copies, `${name}-`))
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 })
  const node = await findNode()
  const run = async (command: readonly [string, ...string[]]) => {
    // The test runner's NODE_ENV would cause development builds, and its TEST silences Nuxt.
    const searched = [path.dirname(node), process.env['PATH'] ?? ''].join(path.delimiter)
    const environment = {
      NODE_ENV: undefined,
      TEST: undefined,
      VITEST: undefined,
      NODE_OPTIONS: undefined,
      PATH: searched,
      ...quiet,
    }
    const { exitCode, output } = await runCommand(command, { cwd: folder, isQuiet: true, environment })
    if (exitCode !== 0) throw new Error(`${command.join(' ')} failed in ${name}:\n${output}`)
    return output
  }
  try {
    for (const source of sources)
      await cp(path.join(root, source), folder, { recursive: true, filter: isSource })
    const isOther = Object.keys(dependencies).length > 0
    if (isOther) await replaceDependencies(folder, dependencies)
    const flag = isOther ? '--no-frozen-lockfile' : '--frozen-lockfile'
    await run(pnpmCommand('install', flag, '--prefer-offline'))
  } catch (error) {
    await remove()
    throw error
  }
  const bin = path.join(folder, 'node_modules/@serve-dist/server/bin/serve-dist.js')
  return {
    folder,
    command: [node, bin],
    write: (files) => writeFiles(folder, files),
    build: (script = 'build') => run(pnpmCommand('run', script)),
    compress: (deployed) => run([node, bin, 'compress', deployed]),
    run,
    versionOf: async (dependency) => {
      const file = path.join(folder, 'node_modules', dependency, 'package.json')
      const { version }: { version: string } = JSON.parse(await readFile(file, 'utf8'))
      return version
    },
    remove,
  }
}

/** Disables update checks and statistics of frameworks. */
const quiet = { ASTRO_TELEMETRY_DISABLED: '1', NUXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1', FORCE_COLOR: '0' }

/** Folders that an install or a build creates in the example. */
const leftovers = new Set([
  'node_modules',
  'dist',
  'build',
  'cache',
  '.astro',
  '.nuxt',
  '.output',
  '.svelte-kit',
])

function isSource(source: string): boolean {
  return !leftovers.has(path.basename(source))
}

async function replaceDependencies(folder: string, dependencies: Dependencies): Promise<void> {
  const file = path.join(folder, 'package.json')
  const content: { dependencies?: Dependencies; devDependencies?: Dependencies } = JSON.parse(
    await readFile(file, 'utf8'),
  )
  const known = { ...content.dependencies, ...content.devDependencies }
  const unknown = Object.keys(dependencies).filter((name) => !(name in known))
  if (unknown.length > 0) throw new Error(`the example does not depend on ${unknown.join(', ')}`)
  const replaced = (all: Dependencies = {}) =>
    Object.fromEntries(Object.entries(all).map(([name, range]) => [name, dependencies[name] ?? range]))
  await writeFile(
    file,
    JSON.stringify({
      ...content,
      dependencies: replaced(content.dependencies),
      devDependencies: replaced(content.devDependencies),
    }),
  )
  await rm(path.join(folder, 'pnpm-lock.yaml'))
}

async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await (text === undefined ? rm(file, { force: true }) : writeFile(file, text))
  }
}
