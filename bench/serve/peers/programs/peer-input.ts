/** What the harness tells a program in this folder. */
export interface PeerInput {
  readonly directory: string
  readonly port: number
  readonly workers: number
  /** The codings that clients will ask for. */
  readonly accept: readonly string[]
}

/** Reads it from the environment. */
export function readPeerInput(): PeerInput {
  const { BENCH_DIRECTORY, BENCH_PORT, BENCH_WORKERS, BENCH_ACCEPT } = process.env
  if (BENCH_DIRECTORY === undefined) throw new Error('BENCH_DIRECTORY: the folder to serve')
  return {
    directory: BENCH_DIRECTORY,
    port: Number(BENCH_PORT),
    workers: Number(BENCH_WORKERS ?? 1),
    accept: (BENCH_ACCEPT ?? '').split(',').filter(Boolean),
  }
}
