import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServingRules } from '@serve-dist/manifest'
import { precompress } from '@serve-dist/precompress'
import { openStore, publish } from '@serve-dist/store'
import { benchDirectory } from '../bench-directory.ts'
import { runProcess } from '../run-process.ts'
import type { FoundServer, LaunchInput, ServerDefinition } from './server-definition.ts'

/** Peers that are too large for everybody's install. */
export const morePeersDirectory: string = join(benchDirectory, 'more-peers')

/** How to install them. */
export const installMorePeers = 'to have it, npm install --prefix bench/more-peers'

/** Our own command, with flags. */
export function serveDist(name: string, flags: readonly string[]): ServerDefinition {
  return ownCommand(name, async ({ directory }) => [directory, ...flags])
}

/** Our own command with rules in a configuration file. */
export function serveDistByRules(name: string, rules: ServingRules): ServerDefinition {
  return ownCommand(name, async ({ directory, scratch }) => {
    const file = join(scratch, 'serve-dist.config.json')
    await writeFile(file, JSON.stringify(rules))
    return [directory, '--config', file]
  })
}

/** Our own command from a store; of a kept build, a page alone is current. */
export function serveDistFromStore(name: string, build: 'current' | 'kept'): ServerDefinition {
  return ownCommand(name, async ({ directory, scratch }) => {
    const place = join(scratch, 'store')
    const store = await openStore(place)
    await publish(directory, store)
    if (build === 'kept') {
      const next = join(scratch, 'next')
      await mkdir(next)
      await writeFile(join(next, 'index.html'), '<!doctype html>')
      await precompress(next)
      await publish(next, store)
    }
    return ['--store', place, '--store-cache', join(scratch, 'cache')]
  })
}

function ownCommand(name: string, wordsOf: (input: LaunchInput) => Promise<string[]>): ServerDefinition {
  return {
    name,
    async find() {
      const folder = join(benchDirectory, '../packages/server')
      const program = join(folder, 'bin/serve-dist.js')
      return {
        version: await versionIn(folder),
        launch: async (input) => {
          const { port, workers, tls } = input
          const several = workers > 1 ? ['--workers', String(workers)] : []
          const secure = tls === undefined ? [] : ['--tls-cert', tls.certificate, '--tls-key', tls.key]
          const words = await wordsOf(input)
          return {
            command: process.execPath,
            arguments: [program, ...words, '--port', String(port), ...several, ...secure],
          }
        },
      }
    },
  }
}

/**
 * A program of ours for Node, under `programs/`, beside the package whose version is shown; without one, Node's own.
 * Several workers are processes of `node:cluster`.
 */
export function nodePeer(name: string, packageName?: string): ServerDefinition {
  return {
    name,
    find: async () => ({
      version: packageName === undefined ? process.versions.node : await readPackageVersion(packageName),
      launch: async (input) => ({
        command: process.execPath,
        arguments: input.workers > 1 ? [programOf('cluster'), programOf(name)] : [programOf(name)],
        environment: environmentOf(input),
      }),
    }),
  }
}

/**
 * The version of an installed package. Not every package lets its `package.json` be resolved, so this looks into
 * the folders.
 */
export async function readPackageVersion(packageName: string): Promise<string> {
  for (const folder of createRequire(import.meta.url).resolve.paths(packageName) ?? []) {
    const version = await versionIn(join(folder, packageName)).catch(() => undefined)
    if (version !== undefined) return version
  }
  throw new Error(`"${packageName}" is not installed`)
}

/** What `package.json` in a folder says. */
export async function versionIn(folder: string): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  return version
}

/** A program of ours for another runtime, under `programs/`; `more-peers` installs the runtime, or our tests did. */
export function runtimePeer(name: string, runtime: string, flags: readonly string[]): ServerDefinition {
  return {
    name,
    async find() {
      const own = runtime === 'bun' ? testedBun() : undefined
      const command = own ?? join(morePeersDirectory, 'node_modules/.bin', runtime)
      const version = await readCommandVersion(command, '--version')
      if (version === undefined) return installMorePeers
      return {
        version,
        launch: async (input) => ({
          command,
          arguments: [...flags, programOf(name)],
          environment: environmentOf(input),
        }),
      }
    },
  }
}

/** The program of Bun that the server's tests run: pnpm installs it, but runs no script that puts it into place. */
function testedBun(): string | undefined {
  const name = `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : 'x64'}`
  try {
    const server = createRequire(join(benchDirectory, '../packages/server/package.json'))
    return createRequire(server.resolve('bun/package.json')).resolve(`${name}/bin/bun`)
  } catch {
    return undefined
  }
}

/** A server of this machine with a configuration file, which stands under `programs/`. */
export interface ConfiguredPeer {
  readonly name: string
  /** Names or paths to try; the first that runs is taken. */
  readonly commands: readonly string[]
  /** Makes the command print its version. */
  readonly versionArgument: string
  /** The file's name. `__directory__`, `__port__`, `__workers__`, `__scratch__` and `__user__` are filled in. */
  readonly configuration: string
  /** More to fill in: nothing, or this where TLS is wanted. `__certificate__` and `__key__` are paths. */
  readonly tls?: Readonly<Record<string, string>>
  /** Behind the command, with the same names and `__configuration__` for the finished file. */
  readonly arguments: readonly string[]
  readonly install: string
}

/** Makes the definition of a server that is installed on the machine. */
export function configuredPeer(peer: ConfiguredPeer): ServerDefinition {
  return {
    name: peer.name,
    async find() {
      for (const command of peer.commands) {
        const version = await readCommandVersion(command, peer.versionArgument)
        if (version !== undefined) return foundPeer(peer, command, version)
      }
      return `to have it, ${peer.install}`
    },
  }
}

function foundPeer(peer: ConfiguredPeer, command: string, version: string): FoundServer {
  return {
    version,
    async launch({ directory, port, workers, scratch, tls }) {
      const configuration = join(scratch, peer.configuration)
      const secure = Object.entries(peer.tls ?? {}).map(([name, text]) => {
        return [name, tls === undefined ? '' : fill(text, { ...tls })]
      })
      const values = {
        ...Object.fromEntries(secure),
        directory,
        port,
        workers,
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
    if (value === undefined) throw new TypeError(`__${name}__ is none of ${Object.keys(values).join(', ')}`)
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

/** What `programs/peer-input.ts` reads. */
function environmentOf({ directory, port, workers, accept }: LaunchInput): Record<string, string> {
  return {
    BENCH_DIRECTORY: directory,
    BENCH_PORT: String(port),
    BENCH_WORKERS: String(workers),
    BENCH_ACCEPT: accept.join(','),
  }
}
