import type { Site } from './site.ts'

/** Where a host looks for the site at each request: another build is swapped in by one assignment. */
export interface SiteHolder {
  readonly current: Site
}

/** What a host is made from: one build for good, or a holder of whichever is the newest. */
export type SiteSource = Site | SiteHolder

/** A holder, also of a site that is never swapped. */
export function toSiteHolder(source: SiteSource): SiteHolder {
  return 'current' in source ? source : { current: source }
}
