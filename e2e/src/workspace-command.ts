import { fileURLToPath } from 'node:url'

/** The built command `serve-dist` of this workspace, with all optional packages. */
export const workspaceCommand: readonly [string, string] = [
  process.execPath,
  fileURLToPath(new URL('../../packages/server/bin/serve-dist.js', import.meta.url)),
]
