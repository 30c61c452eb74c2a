import { fileURLToPath } from 'node:url'
import {
  answerHandshake,
  answerHttp2,
  answerTls,
  pages,
  pagesOfWorkers,
  renderedPagesOfWorkers,
} from '../serve/load/answer-sizes.ts'
import { arenaStaticHttp2, arenaStaticTls } from '../serve/load/arena.ts'
import { workloads as allWorkloads } from '../serve/load/workloads.ts'
import type { Workload } from '../serve/load/workload.ts'
import { choose } from '../serve/option-values.ts'
import { serveDist } from '../serve/peers/find-server.ts'
import type { ServerDefinition } from '../serve/peers/server-definition.ts'
import { servers as allServers } from '../serve/peers/servers.ts'
import { socketFloor } from '../serve/peers/socket-floor.ts'
import { again } from './judge.ts'

/** A workload, and who takes turns at it. */
export interface Part {
  readonly workload: Workload
  readonly servers: readonly ServerDefinition[]
  /** Whether servers are started for each round: memory is that of a first load, and some keep the core busy. */
  readonly isFresh?: boolean
  /** Processes of each server; servers and load generator then share all cores. */
  readonly workers?: number
}

/** Whose differences are small: the engine has two turns in each round. */
const [native, nginx, node, h2o] = [
  definitionOf('serve-dist-native'),
  definitionOf('nginx'),
  definitionOf('serve-dist-node'),
  definitionOf('h2o'),
]
const close = [native, nginx, twice(native)]
const peers = ['serve-dist-node', 'sirv', 'static-web-server', 'h2o', 'bun-routes'].map(definitionOf)

/** Where it shows what the system takes; for more than one answer, and for others than GET, it has none. */
const atFloor = new Set(['answer-450b', 'answer-3k', 'answer-14k', 'answer-26k', 'answer-304'])

const [lightNative, lightNode] = withApplication('ssr', 'light-application')
const [renderingNative, renderingNode] = withApplication('ssr', 'rendering-application')
const blocked = withApplication('blocked', 'blocking-application')

/** Everything that the targets are about. */
export const parts: readonly Part[] = [
  ...choose(allWorkloads, ['answer', 'arena-static'])
    .filter(({ name }) => name !== 'answer-blocked')
    .map((workload) => {
      const floor = atFloor.has(workload.name) ? [socketFloor] : []
      return { workload, servers: [...close, ...peers, ...floor] }
    }),
  ...[answerTls, arenaStaticTls, answerHttp2, arenaStaticHttp2, answerHandshake].map((workload) => ({
    workload,
    servers: [...close, node, h2o],
  })),
  { workload: pages, servers: [lightNative, lightNode, twice(lightNative)] },
  { workload: pagesOfWorkers, servers: [lightNative, lightNode, twice(lightNative)], workers: 2 },
  {
    workload: renderedPagesOfWorkers,
    servers: [renderingNative, renderingNode, twice(renderingNative)],
    workers: 2,
  },
  ...choose(allWorkloads, ['answer-blocked']).map((workload) => ({
    workload,
    // The one that nothing blocks shows what the load generator and the core add.
    servers: [...blocked, lightNative],
    isFresh: true,
  })),
  ...choose(allWorkloads, ['zipf']).map((workload) => ({
    workload,
    servers: [...close, node],
    isFresh: true,
  })),
]

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
