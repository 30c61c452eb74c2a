import { runProcess } from '../run-process.ts'

/**
 * The version that a command names when asked.
 *
 * @returns nothing when there is no such command.
 */
export async function readVersion(
  command: string,
  versionArguments: readonly string[],
): Promise<string | undefined> {
  const output = await runProcess(command, versionArguments).catch(() => undefined)
  return output === undefined ? undefined : (/\d+\.\d+\.\d+/.exec(output)?.[0] ?? 'unknown')
}
