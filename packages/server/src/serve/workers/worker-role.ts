import cluster from 'node:cluster'

/** The input from the primary process to a worker. */
export interface WorkerRole {
  /** Whether it is the first worker or its replacement, which logs warnings for all. */
  readonly isFirst: boolean
  /** Whether it replaces another worker of a running server. */
  readonly isReplacement: boolean
  /** The port that the primary process has chosen for port 0. */
  readonly port: number | undefined
  /** The descriptor of the socket to listen on, in the primary process. */
  readonly descriptor: number | undefined
  /** Whether the native engine answers. Its socket is {@link inheritedSocketDescriptor}. */
  readonly isNative: boolean
}

/** The descriptor after standard input, output and error, and the channel to the primary process. */
export const inheritedSocketDescriptor = 4

const name = 'SERVE_DIST_WORKER'

/** Encodes the role as environment variables of a worker. */
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

/** Returns and removes the role of this process, if it is our worker. Child processes do not inherit it. */
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
