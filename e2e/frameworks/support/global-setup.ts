import { fileURLToPath } from 'node:url'
import { pnpmCommand } from '../../../scripts/pnpm-command.mjs'
import { runCommand } from '../../../scripts/run-command.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Builds the packages that the examples link to. */
export default async function setup(): Promise<void> {
  const { exitCode, output } = await runCommand(pnpmCommand('run', 'build'), { cwd: root, isQuiet: true })
  if (exitCode !== 0) throw new Error(`the build of the packages failed:\n${output}`)
}
