import { fileURLToPath } from 'node:url'
import { answerHandshake, answerHttp2, answerTls, pages, pagesOfWorkers } from '../serve/load/answer-sizes.ts'
import { arenaStaticHttp2 } from '../serve/load/arena.ts'
import { workloads as allWorkloads } from '../serve/load/workloads.ts'
import type { Workload } from '../serve/load/workload.ts'
import { choose } from '../serve/option-values.ts'
import { serveDist } from '../serve/peers/find-server.ts'
import type { ServerDefinition } from '../serve/peers/server-definition.ts'
import { servers as allServers } from '../serve/peers/servers.ts'
import { again } from './judge.ts'

/** A workload, and who takes turns at it. */
export interface Part {
  readonly workload: Workload
  readonly servers: readonly ServerDefinition[]
  /** The workload alone is measured in so few rounds. */
  readonly mostRounds?: number
  /** Whether servers are started for each round: memory is that of a first load, and some keep the core busy. */
  readonly isFresh?: boolean
  /** Processes of each server; servers and load generator then share all cores. */
  readonly workers?: number
}

/** Whose differences are small: they take part in every round, and the engine twice. */
const [native, nginx, node, h2o] = [
  definitionOf('serve-dist-native'),
  definitionOf('nginx'),
  definitionOf('serve-dist-node'),
  definitionOf('h2o'),
]
const close = [native, nginx, twice(native)]
const besideUs = [node, definitionOf('sirv')]
const others = ['static-web-server', 'h2o', 'bun-routes'].map(definitionOf)

const [lightNative, lightNode] = withApplication('ssr', 'light-application')
const blocked = withApplication('blocked', 'blocking-application')

/** Everything that the targets are about. */
export const parts: readonly Part[] = [
  ...choose(allWorkloads, ['answer', 'arena-static'])
    .filter(({ name }) => name !== 'answer-blocked')
    .map((workload) => ({ workload, servers: [...close, ...besideUs, ...others] })),
  ...[answerTls, answerHttp2, arenaStaticHttp2, answerHandshake].map((workload) => ({
    workload,
    servers: [...close, node, h2o],
  })),
  { workload: pages, servers: [lightNative, lightNode, twice(lightNative)] },
  { workload: pagesOfWorkers, servers: [lightNative, lightNode, twice(lightNative)], workers: 2 },
  ...choose(allWorkloads, ['answer-blocked']).map((workload) => ({
    workload,
    // The one that nothing blocks shows what the load generator and the core add.
    servers: [...blocked, lightNative],
    mostRounds: 5,
    isFresh: true,
  })),
  ...choose(allWorkloads, ['zipf']).map((workload) => ({
    workload,
    servers: [...close, node],
    mostRounds: 5,
    isFresh: true,
  })),
]

/** Whether a server takes part in the first rounds only: nothing is near it. */
export function isPeer(name: string | undefined): boolean {
  return [...besideUs, ...others].some((peer) => peer.name === name)
}

/** In how many rounds a server takes part at most. */
export function roundsOf(name: string, peerRounds: number): number {
  if (!isPeer(name)) return Number.POSITIVE_INFINITY
  // No target is beside the others.
  return besideUs.some((peer) => peer.name === name) ? peerRounds : Math.ceil(peerRounds / 2)
}

function definitionOf(name: string): ServerDefinition {
  const definition = allServers.find((server) => server.name === name)
  if (definition === undefined) throw new TypeError(`"${name}" is no server`)
  return definition
}

function twice(definition: ServerDefinition): ServerDefinition {
  return { name: definition.name + again, find: () => definition.find() }
}

/** Our command with each engine, in front of a program of `peers/programs`. */
function withApplication(suffix: string, program: string): readonly [ServerDefinition, ServerDefinition] {
  const application = fileURLToPath(new URL(`../serve/peers/programs/${program}.js`, import.meta.url))
  const definition = (engine: string): ServerDefinition =>
    serveDist(`serve-dist-${engine}-${suffix}`, ['--engine', engine, '--ssr', application])
  return [definition('native'), definition('node')]
}
