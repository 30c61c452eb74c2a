import { runCommand } from './run-command.mjs'

/**
 * Prints what begins, runs it, and stops the whole program with the way to mend it when it fails.
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
