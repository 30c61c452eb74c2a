import cluster from 'node:cluster'

/** What the primary decides for a worker. */
export interface WorkerRole {
  /** The first worker warns, for all. */
  readonly isFirst: boolean
  /** Whether it takes the place of another one, while the server is running. */
  readonly isReplacement: boolean
  /** The port that the primary found, where any would do. */
  readonly port: number | undefined
  /** The descriptor of the socket to listen on, in the primary. */
  readonly descriptor: number | undefined
  /** Whether the native engine answers, and has the socket to listen on as {@link inheritedSocketDescriptor}. */
  readonly isNative: boolean
}

/** Behind standard input, output and error, and the channel to the primary. */
export const inheritedSocketDescriptor = 4

const name = 'SERVE_DIST_WORKER'

/** The role as a worker's environment holds it. */
export function toEnvironment({
  isFirst,
  isReplacement,
  port,
  descriptor,
  isNative,
}: WorkerRole): Readonly<Record<string, string>> {
  const place = isReplacement ? 'replacement' : ''
  const engine = isNative ? 'native' : ''
  return { [name]: [isFirst ? 'first' : 'further', port ?? '', descriptor ?? '', place, engine].join(',') }
}

/** The role of this process, if it is a worker of ours; its child processes do not inherit it. */
export function takeWorkerRole(environment: NodeJS.ProcessEnv = process.env): WorkerRole | undefined {
  const text = environment[name]
  delete environment[name]
  if (text === undefined || !cluster.isWorker) return undefined
  const [order, port, descriptor, place, engine] = text.split(',')
  return {
    isFirst: order === 'first',
    isReplacement: place === 'replacement',
    port: numberOf(port),
    descriptor: numberOf(descriptor),
    isNative: engine === 'native',
  }
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : Number(text)
}
