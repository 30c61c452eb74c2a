import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { version } from 'vite'
import { inject } from 'vitest'
import {
  type ProgramEnd,
  type RunningProgram,
  runProgram,
  startProgram,
} from '../../../scripts/start-program.mjs'
import { cachesIn, type Installer } from './installer.ts'

/**
 * The Vite of this repository. A registry may have a newer one, but not yet all its optional dependencies, which `npm ci` and
 * Yarn need.
 */
export const vite = `vite@${version}`

/** A project with Vite outside of this repository. A given installer installs its packages. */
export interface NewProject {
  readonly folder: string
  /** Runs a command of a document with the installer. */
  run(line: string, cwd?: string): Promise<ProgramEnd>
  /** Starts a server with such a command, on a free port. */
  start(line: string, cwd?: string): Promise<RunningProgram>
  write(name: string, text: string): Promise<void>
  remove(): Promise<void>
}

const source = `
document.body.append(${JSON.stringify(Array.from({ length: 300 }, (_, index) => `word${index}`).join(' '))})
void import('./later.ts')
`

export async function newProject(installer: Installer): Promise<NewProject> {
  const place = await realpath(await mkdtemp(path.join(tmpdir(), 'serve-dist-installer-')))
  const folder = path.join(place, 'site')
  const write = async (name: string, text: string) => {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  const programs = path.join(place, 'programs')
  await mkdir(programs)
  for (const [name, command] of Object.entries(installer.programs)) {
    const file = path.join(programs, name)
    await writeFile(file, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`)
    await chmod(file, 0o755)
  }
  const manifest = { name: 'site', private: true, type: 'module' }
  const files = {
    'package.json': JSON.stringify(manifest),
    'index.html': `<!doctype html>\n<title>A page</title>\n${'<p>A paragraph.</p>\n'.repeat(30)}<script type="module" src="/src/main.ts"></script>\n`,
    'src/main.ts': source,
    'src/later.ts': "console.log('later')\n",
    ...installer.files(inject('registries')),
  }
  for (const [name, text] of Object.entries(files)) await write(name, text)
  const shell = (line: string) => ['sh', '-c', installer.translate(line)]
  const searched = [programs, path.dirname(process.execPath), process.env['PATH'] ?? '']
  const environment = {
    ...withoutRunner(),
    ...cachesIn(place),
    PATH: searched.join(path.delimiter),
    PORT: '0',
  }
  return {
    folder,
    run: (line, cwd = folder) => runProgram(shell(line), { cwd, environment }),
    start: (line, cwd = folder) => startProgram(shell(line), { cwd, environment, isGroup: true }),
    write,
    remove: () => rm(place, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** Returns the environment without the variables of pnpm and vitest. */
function withoutRunner(): Record<string, string | undefined> {
  const names = Object.keys(process.env).filter((name) =>
    /^(npm|pnpm)_|^(VITEST|TEST|NODE_ENV|INIT_CWD|HOST)/.test(name),
  )
  return {
    ...Object.fromEntries(names.map((name) => [name, undefined])),
    NO_COLOR: '1',
    FORCE_COLOR: '0',
    CI: '1',
  }
}
