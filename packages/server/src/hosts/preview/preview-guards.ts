import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { readHost } from '../../protocol/request-head.ts'
import type { PreviewServerConfig } from './preview-server.ts'

/** Whether `preview.proxy` answers this target, by Vite's own rule. */
export function matchesProxy(target: string, proxy: PreviewServerConfig['preview']['proxy']): boolean {
  return Object.keys(proxy ?? {}).some(
    (context) => (context.startsWith('^') && new RegExp(context).test(target)) || target.startsWith(context),
  )
}

/**
 * Whether Vite's checks of host and origin have nothing to say about a request: of doubtful ones it
 * decides itself, which in Vite 6 it does behind our back.
 */
export function passesHostChecks(
  { headers }: IncomingMessage,
  { allowedHosts: allowed }: Pick<PreviewServerConfig['preview'], 'allowedHosts'>,
): boolean {
  if (headers.origin !== undefined) return false
  return allowed === true || isAllowedHost(headers.host ?? '', allowed)
}

/** A rebinding attack needs a name that the attacker owns: an address or `localhost` is none. */
function isAllowedHost(field: string, allowed: readonly string[]): boolean {
  const host = readHost(field)?.name.toLowerCase().replaceAll(/[[\]]/g, '') ?? ''
  if (isIP(host) !== 0 || host === 'localhost' || host.endsWith('.localhost')) return true
  return allowed.some((name) => name === host || (name.startsWith('.') && `.${host}`.endsWith(name)))
}
