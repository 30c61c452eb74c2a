import type { Fallback, Site } from './site.ts'

/** Whether a host answers everything itself, or others stand behind it. */
export type HostRole = 'standalone' | 'middleware'

/** What Vite's own preview does for each type of application. */
const byAppType = { spa: 'spa', mpa: '404', custom: 'none' } as const

/**
 * What a navigation to an unknown path gets: what the host was told, else what the site's rules say, else
 * what the type of application asks for, where nobody stands behind. Where nobody says otherwise, a build
 * that has a page for unknown paths wants it shown.
 */
export function fallbackFor(site: Site, role: HostRole, told: Fallback | undefined): Fallback {
  const said = told ?? site.fallback
  if (said !== undefined) return said
  if (role === 'middleware') return 'none'
  return site.notFound !== undefined && site.appType === 'spa' ? '404' : byAppType[site.appType]
}
