import type { Fallback, Site } from './site.ts'

/** Whether a host answers everything itself, or others stand behind it. */
export type HostRole = 'standalone' | 'middleware'

/** What Vite's own preview does for each type of application. */
const byAppType = { spa: 'spa', mpa: '404', custom: 'none' } as const

/**
 * What a navigation to an unknown path gets: what the host was told, else what the site's rules say, else
 * what the type of application asks for, where nobody stands behind.
 */
export function fallbackFor(site: Site, role: HostRole, told: Fallback | undefined): Fallback {
  return told ?? site.fallback ?? (role === 'middleware' ? 'none' : byAppType[site.appType])
}
