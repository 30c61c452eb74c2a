import { onTestFinished } from 'vitest'
import { type RunningCommand, startCommand } from './start-command.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { workspaceCommand } from './workspace-command.ts'

/** Serves a store with a new cache for the running test. */
export async function serveStore(
  store: string,
  flags: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningCommand> {
  const folder = await temporaryFolder()
  const args = ['--store', store, '--store-cache', `${folder}/cache`, '--port', '0', ...flags]
  const server = await startCommand(workspaceCommand, { args, cwd: folder, environment })
  onTestFinished(async () => {
    await server.stop()
  })
  return server
}
