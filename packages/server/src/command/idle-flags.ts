import { type IdleName, idleSettings, type SettingNames } from '../serve/idle-settings.ts'
import type { ServeFlags } from './serve-command.ts'

const names: SettingNames = {
  port: '--port',
  host: '--host',
  descriptor: 'LISTEN_FDS',
  socket: '--socket <path>',
  socketMode: '--socket-mode',
  accessLog: '--access-log',
  trustProxy: '--trust-proxy',
  largestBody: '--largest-body',
  memoryBudget: '--memory-budget',
}

/**
 * One line for each flag that does nothing beside the others, with the reason and what to do.
 *
 * @param isGiven - whether the command line itself has the flag: defaults and variables of the environment, which
 * a platform may set for all, are nobody's mistake.
 */
export function idleFlags(flags: ServeFlags, isGiven: (name: IdleName) => boolean): string[] {
  return idleSettings({ ...flags, redirectPort: flags.redirectHttp }, isGiven, names)
}
