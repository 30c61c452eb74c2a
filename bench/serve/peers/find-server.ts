import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchDirectory } from '../bench-directory.ts'
import { runProcess } from '../run-process.ts'
import type { FoundServer, LaunchInput, ServerDefinition } from './server-definition.ts'

/** The folder of peers that are too large for the workspace's install. */
export const morePeersDirectory: string = join(benchDirectory, 'more-peers')

/** The instruction to install them. */
export const installMorePeers = 'install it with npm install --prefix bench/more-peers'

/** Defines our own command with flags. */
export function serveDist(name: string, flags: readonly string[]): ServerDefinition {
  return {
    name,
    async find() {
      const folder = join(benchDirectory, '../packages/server')
      return {
        version: await versionIn(folder),
        async launch({ directory, port, workers, tls }) {
          const several = workers > 1 ? ['--workers', String(workers)] : []
          const secure = tls === undefined ? [] : ['--tls-cert', tls.certificate, '--tls-key', tls.key]
          const words = [directory, ...flags, '--port', String(port), ...several, ...secure]
          return { command: process.execPath, arguments: [join(folder, 'bin/serve-dist.js'), ...words] }
        },
      }
    },
  }
}

/**
 * Defines a program for Node under `programs/`. Tables show the version of its package, or of Node without a package.
 */
export function nodePeer(name: string, packageName?: string): ServerDefinition {
  return {
    name,
    find: async () => ({
      version: packageName === undefined ? process.versions.node : await readPackageVersion(packageName),
      launch: async (input) => ({
        command: process.execPath,
        arguments: [programOf(name)],
        environment: environmentOf(input),
      }),
    }),
  }
}

/** Reads the version of an installed package from its folder, because some packages do not export `package.json`. */
export async function readPackageVersion(packageName: string): Promise<string> {
  for (const folder of createRequire(import.meta.url).resolve.paths(packageName) ?? []) {
    const version = await versionIn(join(folder, packageName)).catch(() => undefined)
    if (version !== undefined) return version
  }
  throw new Error(`"${packageName}" is not installed`)
}

/** Reads the version in the `package.json` of a folder. */
export async function versionIn(folder: string): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  return version
}

/** Static responses of Bun: the Bun of the server's tests, or of `more-peers`. */
export const bunRoutes: ServerDefinition = {
  name: 'bun-routes',
  async find() {
    const command = testedBun() ?? join(morePeersDirectory, 'node_modules/.bin/bun')
    const version = await readCommandVersion(command, '--version')
    if (version === undefined) return installMorePeers
    return {
      version,
      launch: async (input) => ({
        command,
        arguments: ['run', programOf('bun-routes')],
        environment: environmentOf(input),
      }),
    }
  },
}

/** Returns the program of Bun in the package for this platform, because pnpm does not run Bun's install script. */
function testedBun(): string | undefined {
  const name = `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : 'x64'}`
  try {
    const server = createRequire(join(benchDirectory, '../packages/server/package.json'))
    return createRequire(server.resolve('bun/package.json')).resolve(`${name}/bin/bun`)
  } catch {
    return undefined
  }
}

/** A server of this machine with a configuration file under `programs/`. */
export interface ConfiguredPeer {
  readonly name: string
  /** Names or paths to try in turn. */
  readonly commands: readonly string[]
  /** The argument that prints the version. */
  readonly versionArgument: string
  /** The file's name. Placeholders: `__directory__`, `__port__`, `__scratch__`, `__user__`. */
  readonly configuration: string
  /** More placeholders, with their texts for TLS; empty without TLS. `__certificate__` and `__key__` are paths. */
  readonly tls?: Readonly<Record<string, string>>
  /** Arguments, with the same placeholders and `__configuration__` for the finished file. */
  readonly arguments: readonly string[]
  readonly install: string
}

/** Defines a server that is installed on the machine. */
export function configuredPeer(peer: ConfiguredPeer): ServerDefinition {
  return {
    name: peer.name,
    async find() {
      for (const command of peer.commands) {
        const version = await readCommandVersion(command, peer.versionArgument)
        if (version !== undefined) return foundPeer(peer, command, version)
      }
      return `install it with ${peer.install}`
    },
  }
}

function foundPeer(peer: ConfiguredPeer, command: string, version: string): FoundServer {
  return {
    version,
    async launch({ directory, port, scratch, tls }) {
      const configuration = join(scratch, peer.configuration)
      const secure = Object.entries(peer.tls ?? {}).map(([name, text]) => {
        return [name, tls === undefined ? '' : fill(text, { ...tls })]
      })
      const values = {
        ...Object.fromEntries(secure),
        directory,
        port,
        scratch,
        configuration,
        user: userInfo().username,
      }
      const template = join(benchDirectory, 'serve/peers/programs', peer.configuration)
      await writeFile(configuration, fill(await readFile(template, 'utf8'), values))
      return { command, arguments: peer.arguments.map((text) => fill(text, values)) }
    },
  }
}

function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/__([a-z]+)__/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined)
      throw new TypeError(`__${name}__ is not one of ${Object.keys(values).join(', ')}`)
    return String(value)
  })
}

async function readCommandVersion(command: string, flag: string): Promise<string | undefined> {
  const output = await runProcess(command, [flag]).catch(() => undefined)
  return output === undefined ? undefined : (/\d+\.\d+\.\d+/.exec(output)?.[0] ?? 'unknown')
}

function programOf(name: string): string {
  return fileURLToPath(new URL(`programs/${name}.js`, import.meta.url))
}

/** Returns the environment that `programs/peer-input.ts` reads. */
function environmentOf({ directory, port, accept }: LaunchInput): Record<string, string> {
  return {
    BENCH_DIRECTORY: directory,
    BENCH_PORT: String(port),
    BENCH_ACCEPT: accept.join(','),
  }
}
