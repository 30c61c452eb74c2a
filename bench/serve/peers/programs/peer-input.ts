/** The input of a program in this folder. */
export interface PeerInput {
  readonly directory: string
  readonly port: number
  /** The codings that clients will accept. */
  readonly accept: readonly string[]
}

/** Reads the input from the environment. */
export function readPeerInput(): PeerInput {
  const { BENCH_DIRECTORY, BENCH_PORT, BENCH_ACCEPT } = process.env
  if (BENCH_DIRECTORY === undefined) throw new Error('BENCH_DIRECTORY: the folder to serve')
  return {
    directory: BENCH_DIRECTORY,
    port: Number(BENCH_PORT),
    accept: (BENCH_ACCEPT ?? '').split(',').filter(Boolean),
  }
}
