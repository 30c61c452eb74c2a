import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../scripts/run-command.mjs'

/** An application that shows the values of its environment, and requests the API in them. */
export const stagesProject: string = fileURLToPath(new URL('../fixtures/stages', import.meta.url))

/** Vite's command in the application. */
export const viteCommand: readonly [string, string] = [
  process.execPath,
  path.join(path.dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js'),
]

/** Builds the application into a folder. Returns the output. */
export async function buildStages(
  dist: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const command = [...viteCommand, 'build', '--outDir', dist, '--emptyOutDir', ...args] as const
  const options = {
    cwd: stagesProject,
    isQuiet: true,
    environment: { NODE_ENV: 'production', ...environment },
  }
  const { exitCode, output } = await runCommand(command, options)
  if (exitCode !== 0) throw new Error(`the build failed:\n${output}`)
  return output
}
