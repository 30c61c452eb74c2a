import { fileURLToPath } from 'node:url'
import {
  applicationWorkloads,
  blockedWorkload,
  computingWorkloads,
  tlsWorkloads,
  workloads,
} from '../serve/load/workloads.ts'
import type { Workload } from '../serve/load/workload.ts'
import type { Part } from '../serve/measure/measure-parts.ts'
import { selectByName } from '../serve/option-values.ts'
import { serveDist } from '../serve/peers/find-server.ts'
import type { ServerDefinition } from '../serve/peers/server-definition.ts'
import { servers } from '../serve/peers/servers.ts'
import { socketFloor } from '../serve/peers/socket-floor.ts'
import { secondTurnSuffix } from './evaluate-target.ts'

/** The number of rounds of one process. The speed and memory of each process differ by chance. */
const roundsOfProcess = 5

const native = definitionOf('serve-dist-native')
const close = [native, definitionOf('nginx'), definitionOf('nginx-newest'), withSecondTurn(native)]
const peers = ['serve-dist-node', 'sirv', 'static-web-server', 'h2o', 'bun-routes'].map(definitionOf)

/** Workloads with one GET request, which the floor can answer. */
const floorWorkloads = new Set(['answer-450b', 'answer-3k', 'answer-14k', 'answer-50k', 'answer-304'])

const [lightNative, lightNode] = withApplication('ssr', 'light-application')
const computing = withApplication('computing', 'computing-application')
const rendering = withApplication('ssr', 'rendering-application')

/** The workloads of all targets. */
export const parts: readonly Part[] = [
  ...selectByName(workloads, ['answer', 'arena-static']).map((workload) => {
    const floor = floorWorkloads.has(workload.name) ? [socketFloor] : []
    return { workload, servers: [...close, ...peers, ...floor], roundsOfProcess }
  }),
  ...tlsWorkloads.map((workload) => ({
    workload,
    servers: [...close, definitionOf('serve-dist-node'), definitionOf('h2o')],
    roundsOfProcess,
  })),
  ...applicationWorkloads.map(applicationPart),
  // The application without blocking shows the delays of the load generator and the core.
  {
    workload: blockedWorkload,
    servers: [...withApplication('blocked', 'blocking-application'), lightNative],
  },
  ...computingWorkloads.map((workload) => ({
    workload,
    servers: [...computing, withSecondTurn(computing[0])],
  })),
  // Memory is measured after a first load, so each round restarts the servers.
  ...selectByName(workloads, ['zipf']).map((workload) => ({
    workload,
    servers: [...close, definitionOf('serve-dist-node')],
  })),
]

function applicationPart(workload: Workload): Part {
  const [own, node] = workload.name.startsWith('rendered') ? rendering : [lightNative, lightNode]
  const workers = workload.name.endsWith('-workers') ? { workers: 2 } : {}
  return { workload, servers: [own, node, withSecondTurn(own)], roundsOfProcess, ...workers }
}

function definitionOf(name: string): ServerDefinition {
  const definition = servers.find((server) => server.name === name)
  if (definition === undefined) throw new TypeError(`there is no server "${name}"`)
  return definition
}

/** Defines a second turn of a server in each round. */
function withSecondTurn(definition: ServerDefinition): ServerDefinition {
  return { name: definition.name + secondTurnSuffix, find: () => definition.find() }
}

/** Defines our command with each engine. A program of `../serve/peers/programs` is its `--ssr` application. */
function withApplication(suffix: string, program: string): readonly [ServerDefinition, ServerDefinition] {
  const application = fileURLToPath(new URL(`../serve/peers/programs/${program}.js`, import.meta.url))
  const definition = (engine: string): ServerDefinition =>
    serveDist(`serve-dist-${engine}-${suffix}`, ['--engine', engine, '--ssr', application])
  return [definition('native'), definition('node')]
}
