import { choose } from '../serve/option-values.ts'
import { serveDist } from '../serve/peers/find-server.ts'
import type { ServerDefinition } from '../serve/peers/server-definition.ts'
import { servers as allServers } from '../serve/peers/servers.ts'
import { workloads as allWorkloads } from '../serve/load/workloads.ts'
import type { Workload } from '../serve/load/workload.ts'
import { fileURLToPath } from 'node:url'

/** A workload, who takes turns at it, and in how many rounds at most. */
export interface Part {
  readonly workload: Workload
  readonly servers: readonly ServerDefinition[]
  readonly mostRounds: number
}

/** What is added to the name of a server that takes a second turn in each round. */
export const again = '-again'

/** Servers whose differences are small: each is there twice, and takes part in every round. */
const near = ['serve-dist-native', 'nginx'].map(definitionOf)
const main: readonly ServerDefinition[] = [
  ...near,
  definitionOf('serve-dist-node'),
  ...near.map((server) => ({ name: server.name + again, find: () => server.find() })),
]
const others = ['static-web-server', 'h2o', 'bun-routes', 'sirv'].map(definitionOf)

const application = fileURLToPath(new URL('../serve/peers/programs/blocking-application.js', import.meta.url))
const blocked = ['native', 'node'].map((engine) => {
  return serveDist(`serve-dist-${engine}-blocked`, ['--engine', engine, '--ssr', application])
})

/** Everything that the targets are about. */
export const parts: readonly Part[] = [
  ...choose(allWorkloads, ['answer', 'arena-static'])
    .filter(({ name }) => name !== 'answer-blocked')
    .map((workload) => ({
      workload,
      servers: [...main, ...others],
      mostRounds: Number.POSITIVE_INFINITY,
    })),
  ...choose(allWorkloads, ['answer-blocked']).map((workload) => ({
    workload,
    servers: blocked,
    mostRounds: 5,
  })),
  ...choose(allWorkloads, ['zipf']).map((workload) => ({ workload, servers: main, mostRounds: 3 })),
]

/** Those that take part in the first rounds only. */
export const peerNames: ReadonlySet<string> = new Set(others.map(({ name }) => name))

function definitionOf(name: string): ServerDefinition {
  const definition = allServers.find((server) => server.name === name)
  if (definition === undefined) throw new TypeError(`"${name}" is no server`)
  return definition
}
