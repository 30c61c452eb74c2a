import cluster from 'node:cluster'

/** What a primary lets a worker be. */
export interface WorkerRole {
  /** One of them warns, for all. */
  readonly isFirst: boolean
  /** The port that was found for all, where any would do. */
  readonly port: number | undefined
  /** Of the socket to listen on, in the primary. */
  readonly descriptor: number | undefined
}

const name = 'SERVE_DIST_WORKER'

/** The role as a worker's environment holds it. */
export function toEnvironment({ isFirst, port, descriptor }: WorkerRole): Readonly<Record<string, string>> {
  return { [name]: [isFirst ? 'first' : 'further', port ?? '', descriptor ?? ''].join(',') }
}

/** The role of this process, or `undefined` where it is no worker of ours. What it starts does not inherit it. */
export function takeWorkerRole(environment: NodeJS.ProcessEnv = process.env): WorkerRole | undefined {
  const text = environment[name]
  delete environment[name]
  if (text === undefined || !cluster.isWorker) return undefined
  const [order, port, descriptor] = text.split(',')
  return { isFirst: order === 'first', port: numberOf(port), descriptor: numberOf(descriptor) }
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : Number(text)
}
