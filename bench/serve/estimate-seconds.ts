import type { RunOptions } from './run-options.ts'
import type { Turn } from './measure/turn.ts'

/** Beside each load: two checks, and starting the load generator; measured on two cores. */
const overheadSeconds = 0.35

/** How long a run takes, about: nothing is known of void rows, which take less. */
export function estimateSeconds(
  turns: readonly Turn[],
  {
    connections,
    rounds,
    seconds,
    warmUpSeconds,
  }: Pick<RunOptions, 'connections' | 'rounds' | 'seconds' | 'warmUpSeconds'>,
): number {
  const perRound = turns.map(({ workload, servers }) => {
    const load = Math.max(seconds, workload.leastSeconds ?? 0) + overheadSeconds
    return servers.size * (warmUpSeconds + connections.length * load)
  })
  return rounds * perRound.reduce((sum, one) => sum + one, 0)
}
