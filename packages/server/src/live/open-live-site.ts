import { type LiveSiteOptions, resolveLiveSiteOptions } from '../load/load-options.ts'
import { type StoreOptions, withoutStore } from '../load/store-options.ts'
import { refuseBasicAuth } from '../rules/basic-auth.ts'
import { refuseProxying } from '../rules/refuse-proxying.ts'
import type { Site } from '../site/site.ts'
import { followStore } from './follow-store.ts'
import { type LiveSite, openStagedSite } from './open-staged-site.ts'

/**
 * Loads a build for hosts that replace it by newer builds later.
 *
 * @throws OperatorError if the folder cannot be served, or if an option is invalid.
 */
export async function openLiveSite(directory: string, options?: LiveSiteOptions): Promise<LiveSite>
/**
 * Loads the current build of a store, and follows the store. While the store is unreachable, it serves the build from the
 * cache on this machine.
 *
 * @throws OperatorError if neither has a usable build, or if an option is invalid.
 */
export async function openLiveSite(options: LiveSiteOptions & StoreOptions): Promise<LiveSite>
export async function openLiveSite(
  from: string | (LiveSiteOptions & StoreOptions),
  options: LiveSiteOptions = {},
): Promise<LiveSite> {
  if (typeof from !== 'object' || from === null) {
    return await openStagedSite(from, resolveLiveSiteOptions(options), beforeServing)
  }
  const given = resolveLiveSiteOptions(withoutStore(from))
  const live = await openStagedSite(from, given, beforeServing)
  const following = followStore(live, () => live.reload(), given)
  const close = live.close.bind(live)
  return Object.assign(live, {
    close() {
      following.close()
      close()
    },
  })
}

/** Rejects a site that needs more than a handler. */
function beforeServing(site: Site): void {
  refuseBasicAuth(site)
  refuseProxying(site)
}
