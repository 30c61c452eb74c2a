import { OperatorError } from '@serve-dist/manifest'
import type { Site } from './site.ts'
import type { StoreView } from './store-view.ts'

/** Where a host looks for the site at each request: another build is swapped in by one assignment. */
export interface SiteHolder {
  readonly current: Site
  /** The store that the builds come from, if they do. */
  readonly store?: StoreView | undefined
  /**
   * Looks whether there is a newer build than the current one, and may put it in its place; called before a hashed file
   * that nobody has is a 404 (`hosts/decide-unlisted-path.ts`), by all who ask for one: a look is shared and short
   * (`files/throttle-refresh.ts`). It never rejects. Absent where no look is of use.
   */
  refreshForMissingAsset?(): Promise<void>
}

/** Who has something made of each site that is served. */
export interface SiteFollower {
  /** Makes ready for a site that may be served next. It never rejects. */
  prepare(site: Site): Promise<void>
  /** Called in the turn in which a site takes its place, before it does. */
  swap(site: Site): void
}

/** What a host is made from: one build for good, or a holder of whichever is the newest. */
export type SiteSource = Site | SiteHolder

/**
 * A holder, also of a site that is never swapped.
 *
 * @throws OperatorError for anything else, such as the promise of a site.
 */
export function toSiteHolder(source: SiteSource): SiteHolder {
  const given: unknown = source
  if (typeof given === 'object' && given !== null && ('current' in given || 'table' in given)) {
    return 'current' in source ? source : { current: source }
  }
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `a handler needs a loaded site, such as createHandler(await loadSite('dist')); found ${String(given)}`,
  )
}
