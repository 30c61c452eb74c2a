import type { PreparedWorkload, Workload } from '../load/workload.ts'
import type { FoundServer } from '../peers/server-definition.ts'
import { measure, type MeasureOptions } from './measure.ts'

/**
 * Gives a workload the rate that it is to be sent at: a share of what another server answers when nothing holds it back.
 *
 * @returns a text that says what is missing, if there is no such server.
 * @throws VoidRow when that server's answers are wrong.
 */
export async function fixRate(
  { rateBeside }: Workload,
  prepared: PreparedWorkload,
  { servers, ...options }: MeasureOptions & { readonly servers: ReadonlyMap<string, FoundServer> },
): Promise<PreparedWorkload | string> {
  if (rateBeside === undefined) return prepared
  const server = servers.get(rateBeside.server)
  if (server === undefined)
    return `its rate is a share of that of ${rateBeside.server}, which is not measured`
  const { sample } = await measure(server, prepared, options)
  return { ...prepared, requestsPerSecond: Math.round(sample.requestsPerSecond * rateBeside.share) }
}
