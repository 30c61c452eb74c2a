import { execFile, type ExecFileOptions } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/**
 * Runs a command to its end.
 *
 * @returns its standard output and standard error.
 * @throws Error if it cannot be started, or if its exit code is not 0.
 */
export async function runProcess(
  command: string,
  parameters: readonly string[],
  options: Pick<ExecFileOptions, 'cwd' | 'env'> = {},
): Promise<string> {
  const { stdout, stderr } = await execute(command, parameters, {
    ...options,
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout + stderr
}
