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

/** Whose differences are small: they take part in every round, and the engine twice. */
const [native, nginx] = [definitionOf('serve-dist-native'), definitionOf('nginx')]
const nativeAgain = { name: native.name + again, find: () => native.find() }
const others = ['serve-dist-node', 'static-web-server', 'h2o', 'bun-routes', 'sirv'].map(definitionOf)
const everybody = [native, nginx, nativeAgain, ...others]

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
      servers: everybody,
      mostRounds: Number.POSITIVE_INFINITY,
    })),
  ...choose(allWorkloads, ['answer-blocked']).map((workload) => ({
    workload,
    servers: blocked,
    mostRounds: 5,
  })),
  ...choose(allWorkloads, ['zipf']).map((workload) => ({
    workload,
    servers: [native, nginx, nativeAgain, definitionOf('serve-dist-node')],
    mostRounds: 5,
  })),
]

/** Those that take part in the first rounds only. */
export const peerNames: ReadonlySet<string> = new Set(others.map(({ name }) => name))

function definitionOf(name: string): ServerDefinition {
  const definition = allServers.find((server) => server.name === name)
  if (definition === undefined) throw new TypeError(`"${name}" is no server`)
  return definition
}
