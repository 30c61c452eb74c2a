import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../scripts/run-command.mjs'

const cache = fileURLToPath(new URL('../../node_modules/.cache/go-programs', import.meta.url))

/**
 * Builds a program with Go. Returns its path.
 *
 * @param program - its module and version, such as `example.com/cmd/name@v1.0.0`
 * @throws Error with the output if Go or the network is missing
 */
export async function installGoProgram(program: string): Promise<string> {
  const command = ['go', 'install', program] as const
  const environment = { GOBIN: cache }
  const { exitCode, output } = await runCommand(command, { environment, isQuiet: true, timeLimit: 240_000 })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed:\n${output}`)
  return path.join(cache, /([^/]+?)(?:\/v\d+)?@/.exec(program)?.[1] ?? '')
}
