import { fileURLToPath } from 'node:url'

/** The command `serve-dist` as this workspace has built it, beside every package that it can use. */
export const workspaceCommand: readonly [string, string] = [
  process.execPath,
  fileURLToPath(new URL('../../packages/server/bin/serve-dist.js', import.meta.url)),
]
