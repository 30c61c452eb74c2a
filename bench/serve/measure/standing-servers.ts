import { checkServer, type CheckedServer } from './check-server.ts'
import { addressedTo, type MeasuredServer, type MeasureOptions, startOrVoid } from './measure.ts'
import type { FoundServer } from '../peers/server-definition.ts'
import type { StartedServer } from './start-server.ts'
import type { PreparedWorkload } from '../load/workload.ts'

/** Servers of one site that stay up between their turns, so that none is started for each load. */
export interface StandingServers {
  /**
   * One that stands, and has answered this workload as it must.
   *
   * @throws VoidRow when it does not start, or answers wrong.
   */
  ready(name: string, server: FoundServer, neutral: PreparedWorkload): Promise<MeasuredServer>
  /** Stops one, so that its next turn finds it started anew. */
  drop(name: string): Promise<void>
  stop(): Promise<void>
}

interface Standing {
  readonly started: StartedServer
  readonly checked: Map<PreparedWorkload, CheckedServer>
}

/** None at first: each is started before its first turn. */
export function standServers(options: Pick<MeasureOptions, 'serverCores' | 'workers'>): StandingServers {
  const standing = new Map<string, Standing>()
  const drop = async (name: string): Promise<void> => {
    const one = standing.get(name)
    standing.delete(name)
    await one?.started.stop()
  }
  return {
    async ready(name, server, neutral) {
      const workload = addressedTo(server, neutral)
      const one: Standing = standing.get(name) ?? {
        started: await startOrVoid(server, workload, options),
        checked: new Map(),
      }
      standing.set(name, one)
      const { started } = one
      const checked = one.checked.get(neutral) ?? (await checkServer(started.port, workload))
      one.checked.set(neutral, checked)
      return { started, checked, workload }
    },
    drop,
    async stop() {
      await Promise.all([...standing.keys()].map(drop))
    },
  }
}
