import { access } from 'node:fs/promises'
import path from 'node:path'
import { pnpmCommand } from '../../scripts/pnpm-command.mjs'
import { runCommand } from '../../scripts/run-command.mjs'
import type { BuiltExample } from './built-example.ts'

/** Runs a project's own `build` script. Returns the project's paths. */
export async function buildExample(
  name: string,
  project: string,
  command: readonly [string, ...string[]] = pnpmCommand('run', 'build'),
): Promise<BuiltExample> {
  // The test runner's NODE_ENV would cause a development build of React.
  const environment = { NODE_ENV: 'production' }
  const { exitCode, output } = await runCommand(command, { cwd: project, isQuiet: true, environment })
  if (exitCode !== 0) throw new Error(`the build of ${name} failed:\n${output}`)
  const bin = path.join(project, 'node_modules/@serve-dist/server/bin/serve-dist.js')
  await access(bin)
  return { name, project, dist: path.join(project, 'dist'), command: [process.execPath, bin] }
}
