import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { readHost } from '../../protocol/request-head.ts'
import type { PreviewServerConfig } from './preview-server.ts'

/** Returns whether `preview.proxy` answers this target, by Vite's own rule. */
export function matchesProxy(target: string, proxy: PreviewServerConfig['preview']['proxy']): boolean {
  return Object.keys(proxy ?? {}).some(
    (context) => (context.startsWith('^') && new RegExp(context).test(target)) || target.startsWith(context),
  )
}

/**
 * Returns whether a request certainly passes Vite's host and origin checks. Vite decides about all others;
 * Vite 6 does this after plugins.
 */
export function passesHostChecks(
  { headers }: IncomingMessage,
  { allowedHosts: allowed }: Pick<PreviewServerConfig['preview'], 'allowedHosts'>,
): boolean {
  if (headers.origin !== undefined) return false
  return allowed === true || isAllowedHost(headers.host ?? '', allowed)
}

/** Rebinding attacks need a domain name. IP addresses and `localhost` are safe. */
function isAllowedHost(field: string, allowed: readonly string[]): boolean {
  const host = readHost(field)?.name.toLowerCase().replaceAll(/[[\]]/g, '') ?? ''
  if (isIP(host) !== 0 || host === 'localhost' || host.endsWith('.localhost')) return true
  return allowed.some((name) => name === host || (name.startsWith('.') && `.${host}`.endsWith(name)))
}
