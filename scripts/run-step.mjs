import { runCommand } from './run-command.mjs'

/**
 * Prints a title and runs a command. If the command fails, prints the fix and ends this program.
 *
 * @param {string} title
 * @param {readonly [string, ...string[]]} command
 * @param {{ fix: string, cwd?: string }} options
 */
export async function runStep(title, command, { fix, cwd }) {
  console.log(`▸ ${title}`)
  const { exitCode, output } = await runCommand(command, { ...(cwd && { cwd }), isQuiet: true })
  if (exitCode === 0) return
  console.error(output.trimEnd())
  console.error(`\n✗ ${title}: failed with exit code ${exitCode}. ${fix}`)
  process.exit(exitCode)
}
