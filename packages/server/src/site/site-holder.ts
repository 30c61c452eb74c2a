import { OperatorError } from '@serve-dist/manifest'
import type { Site } from './site.ts'
import type { StoreView } from './store-view.ts'

/**
 * A container for the current site. Hosts read `current` for each request; one assignment activates a new
 * build.
 */
export interface SiteHolder {
  readonly current: Site
  /** The store that the builds come from; absent for a folder. */
  readonly store?: StoreView | undefined
  /**
   * Looks for a newer build and activates it. Hosts call it before they answer 404 for a hashed file
   * (`hosts/decide-unlisted-path.ts`). Concurrent callers share one short look
   * (`files/throttle-refresh.ts`). It never rejects. Absent if looking is useless.
   */
  refreshForMissingAsset?(): Promise<void>
}

/** A component that derives data from each served site. */
export interface SiteFollower {
  /** Prepares the data for a site that may be served next. It never rejects. */
  prepare(site: Site): Promise<void>
  /** Activates the data. It is called synchronously just before the site becomes current. */
  swap(site: Site): void
}

/** A fixed site, or a holder of the current one. */
export type SiteSource = Site | SiteHolder

/**
 * Wraps a site in a holder; returns holders unchanged.
 *
 * @throws OperatorError for any other value, such as the promise of a site.
 */
export function toSiteHolder(source: SiteSource): SiteHolder {
  const given: unknown = source
  if (typeof given === 'object' && given !== null && ('current' in given || 'table' in given)) {
    return 'current' in source ? source : { current: source }
  }
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `a handler needs a loaded site, such as createHandler(await loadSite('dist')), found ${String(given)}`,
  )
}
