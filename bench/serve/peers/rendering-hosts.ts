import { peerEnvironment, peerProgram } from './peer-program.ts'
import type { ServerDefinition } from './server-definition.ts'

/** One host that renders, with different middleware for its static files. */
export const renderingHosts: readonly ServerDefinition[] = ['serve-dist', 'sirv', 'express'].map((name) => ({
  name,
  find: async () => ({
    version: 'with SSR',
    launch: async (input) => ({
      command: process.execPath,
      arguments: [peerProgram('rendering-host'), name],
      environment: peerEnvironment(input),
    }),
  }),
}))
