import { idleSettings, type SettingNames } from './idle-settings.ts'
import type { ServeOptions } from './serve-options.ts'
import { resolveSiteStoreOptions } from '../load/load-options.ts'

const names: SettingNames = {
  port: 'port',
  host: 'host',
  descriptor: 'descriptor',
  socket: 'socket',
  socketMode: 'socketMode',
  accessLog: 'operations.accessLog',
  trustProxy: 'operations.trustProxy',
  largestBody: 'site.largestBody',
  memoryBudget: 'site.memoryBudget',
}

/** One line for each option of `serve` that does nothing beside the others, with the reason and what to do. */
export function idleOptions(options: ServeOptions): string[] {
  const { descriptor, port, host, socket, socketMode, tls, operations = {}, site = {} } = options
  const { accessLog, trustProxy } = operations
  const { largestBody, memoryBudget } = resolveSiteStoreOptions(site)
  const given = {
    port,
    host,
    socket,
    socketMode,
    trustProxy,
    // No limit is the default, however it is said.
    largestBody: largestBody === Number.POSITIVE_INFINITY ? undefined : largestBody,
  }
  const settings = {
    descriptor,
    socket,
    redirectPort: tls?.redirectPort,
    accessLog,
    largestBody,
    memoryBudget,
  }
  return idleSettings(settings, (name) => given[name] !== undefined, names)
}
