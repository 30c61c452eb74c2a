import { join } from 'node:path'
import { installMorePeers, morePeersDirectory } from './more-peers.ts'
import { peerEnvironment, peerProgram } from './peer-program.ts'
import { readVersion } from './read-version.ts'
import type { ServerDefinition } from './server-definition.ts'

/** A server that is a program of ours for another runtime than Node, under `peers/`. */
export interface RuntimePeer {
  readonly name: string
  /** The runtime's command, which `more-peers` installs. */
  readonly command: string
  /** Before the program. */
  readonly arguments: readonly string[]
}

/** Makes the definition. */
export function runtimePeer({ name, command, arguments: before }: RuntimePeer): ServerDefinition {
  return {
    name,
    async find() {
      const path = join(morePeersDirectory, 'node_modules/.bin', command)
      const version = await readVersion(path, ['--version'])
      if (version === undefined) return installMorePeers
      return {
        version,
        launch: async (input) => ({
          command: path,
          arguments: [...before, peerProgram(name)],
          environment: peerEnvironment(input),
        }),
      }
    },
  }
}
