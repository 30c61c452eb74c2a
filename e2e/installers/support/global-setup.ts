import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { npmCommand } from '../../../scripts/npm-command.mjs'
import { pnpmCommand } from '../../../scripts/pnpm-command.mjs'
import { runCommand } from '../../../scripts/run-command.mjs'
import { servePackages } from './serve-packages.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

declare module 'vitest' {
  interface ProvidedContext {
    /** The registries of this repository's packed packages, and of all others. */
    readonly registries: { readonly ours: string; readonly others: string }
  }
}

/** Builds and packs the packages, and serves them to installers. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await run(pnpmCommand('run', 'build'))
  const others = (await run(npmCommand('config', 'get', 'registry', '--loglevel=error'))).trim()
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'serve-dist-packed-')))
  const ours = await servePackages(folder)
  project.provide('registries', { ours: ours.url, others })
  return async () => {
    ours.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function run(command: readonly [string, ...string[]]): Promise<string> {
  const { exitCode, output } = await runCommand(command, { cwd: root, isQuiet: true })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed:\n${output}`)
  return output
}
