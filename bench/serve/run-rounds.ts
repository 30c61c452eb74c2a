import { VoidRow } from './check-server.ts'
import { measure, type MeasureOptions, type Measured } from './measure.ts'
import type { Row } from './report.ts'
import type { FoundServer } from './server-definition.ts'
import type { PreparedWorkload, Workload } from './workload.ts'

/** What takes turns at what. */
export interface RoundsInput {
  readonly workload: Workload
  readonly prepared: PreparedWorkload
  readonly servers: ReadonlyMap<string, FoundServer>
  readonly rounds: number
  readonly onProgress: (message: string) => void
}

/** Measures servers in turn, round after round (A B C A B C …); one that is void takes no further turn. */
export async function runRounds(input: RoundsInput, options: MeasureOptions): Promise<readonly Row[]> {
  const { workload, prepared, servers, rounds, onProgress } = input
  const measured = new Map<string, Measured[]>([...servers.keys()].map((name) => [name, []]))
  const voids = new Map<string, string>()
  for (let round = 1; round <= rounds; round += 1) {
    for (const [name, server] of servers) {
      if (voids.has(name)) continue
      onProgress(`${workload.name}: round ${round} of ${rounds}, ${name}`)
      const result = await measureOrVoid(server, prepared, options)
      if (typeof result === 'string') voids.set(name, result)
      else measured.get(name)?.push(result)
    }
  }
  return [...servers].map(([name, { version }]) => {
    const results = measured.get(name) ?? []
    const reason = voids.get(name)
    return {
      server: name,
      version,
      workload: workload.name,
      connections: options.connections,
      samples: reason === undefined ? results.map(({ sample }) => sample) : [],
      codings: [...new Set(results.flatMap(({ codings }) => codings))],
      remarks: [...new Set(results.flatMap(({ remarks }) => remarks))],
      void: reason,
    }
  })
}

async function measureOrVoid(
  server: FoundServer,
  prepared: PreparedWorkload,
  options: MeasureOptions,
): Promise<Measured | string> {
  try {
    return await measure(server, prepared, options)
  } catch (error) {
    if (error instanceof VoidRow) return error.message
    throw error
  }
}
