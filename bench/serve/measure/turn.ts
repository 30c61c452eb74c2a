import type { FoundServer } from '../peers/server-definition.ts'
import type { PreparedWorkload, Workload } from '../load/workload.ts'

/** A workload and who takes part in it. */
export interface Turn {
  readonly workload: Workload
  readonly prepared: PreparedWorkload
  readonly servers: ReadonlyMap<string, FoundServer>
}

/** Turns for which the same processes can stand: the same servers, folder and codings. */
export function groupBySite(turns: readonly Turn[]): readonly (readonly Turn[])[] {
  const groups: Turn[][] = []
  for (const turn of turns) {
    const group = groups.find(([first]) => first !== undefined && isSameSite(first, turn))
    if (group === undefined) groups.push([turn])
    else group.push(turn)
  }
  return groups
}

function isSameSite(one: Turn, other: Turn): boolean {
  return (
    one.prepared.directory === other.prepared.directory &&
    acceptOf(one.prepared) === acceptOf(other.prepared) &&
    one.workload.servers === other.workload.servers
  )
}

/** What servers are started with: those that do not negotiate have to know. */
function acceptOf({ requests: [first] }: PreparedWorkload): string {
  return first?.accept.join() ?? ''
}
