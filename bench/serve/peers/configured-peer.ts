import { readFile, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { benchDirectory } from '../bench-directory.ts'
import { readVersion } from './read-version.ts'
import type { FoundServer, ServerDefinition } from './server-definition.ts'

/** A server with a configuration file, which stands under `peers/`. */
export interface ConfiguredPeer {
  readonly name: string
  /** Names or paths to try; the first that runs is taken. */
  readonly commands: readonly string[]
  /** Makes the command print its version. */
  readonly versionArguments: readonly string[]
  /** The file's name. `__directory__`, `__port__`, `__workers__`, `__scratch__` and `__user__` are filled in. */
  readonly configuration: string
  /** Behind the command, with the same names and `__configuration__` for the finished file. */
  readonly arguments: readonly string[]
  /** How it is had. */
  readonly install: string
}

/** Makes the definition of a server that is installed on the machine. */
export function configuredPeer(peer: ConfiguredPeer): ServerDefinition {
  return {
    name: peer.name,
    async find() {
      for (const command of peer.commands) {
        const version = await readVersion(command, peer.versionArguments)
        if (version !== undefined) return foundPeer(peer, command, version)
      }
      return `${peer.install}, to have it`
    },
  }
}

function foundPeer(peer: ConfiguredPeer, command: string, version: string): FoundServer {
  return {
    version,
    async launch({ directory, port, workers, scratch }) {
      const configuration = join(scratch, peer.configuration)
      const values = { directory, port, workers, scratch, configuration, user: userInfo().username }
      const template = await readFile(
        join(benchDirectory, 'serve/peers/programs', peer.configuration),
        'utf8',
      )
      await writeFile(configuration, fill(template, values))
      return { command, arguments: peer.arguments.map((text) => fill(text, values)) }
    },
  }
}

function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/__([a-z]+)__/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new TypeError(`__${name}__ is none of ${Object.keys(values).join(', ')}`)
    return String(value)
  })
}
