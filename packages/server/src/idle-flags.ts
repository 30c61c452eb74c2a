import type { ServeFlags } from './serve-command.ts'

type FlagName = 'port' | 'host' | 'socketMode' | 'trustProxy' | 'largestBody'

/**
 * One line for each flag that does nothing beside the others, with the reason and what to do.
 *
 * @param isGiven - whether the command line itself has the flag: defaults and variables of the environment, which
 * a platform may set for all, are nobody's mistake.
 */
export function idleFlags(
  { socket, accessLog, largestBody, memoryBudget }: ServeFlags,
  isGiven: (name: FlagName) => boolean,
): string[] {
  const idle: string[] = []
  if (socket === undefined && isGiven('socketMode')) {
    idle.push('--socket-mode does nothing: there is no socket; add --socket <path>, or leave it out')
  }
  if (socket !== undefined) {
    for (const name of ['port', 'host'] as const) {
      if (isGiven(name))
        idle.push(`--${name} does nothing: --socket listens instead of a port; leave one out`)
    }
  }
  if (accessLog === undefined && isGiven('trustProxy')) {
    idle.push(
      '--trust-proxy does nothing: addresses are for the log alone; add --access-log, or leave it out',
    )
  }
  if (isGiven('largestBody') && largestBody > memoryBudget) {
    idle.push(
      '--largest-body does nothing: --memory-budget is smaller; raise the budget, or leave --largest-body out',
    )
  }
  return idle
}
