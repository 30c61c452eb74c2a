import { type LiveSiteOptions, resolveLiveSiteOptions } from '../load/load-options.ts'
import { type StoreOptions, withoutStore } from '../load/store-options.ts'
import { followStore } from './follow-store.ts'
import { type LiveSite, openStagedSite } from './open-staged-site.ts'

/**
 * Loads a build for hosts that swap it for a newer one later.
 *
 * @throws OperatorError when the folder cannot be served, or an option is wrong.
 */
export async function openLiveSite(directory: string, options?: LiveSiteOptions): Promise<LiveSite>
/**
 * Loads the current build of a store, and puts each one that becomes current in its place. Where the store cannot be
 * reached, the build that the cache on this machine has is served until it can.
 *
 * @throws OperatorError when neither has a build that can be served, or an option is wrong.
 */
export async function openLiveSite(options: LiveSiteOptions & StoreOptions): Promise<LiveSite>
export async function openLiveSite(
  from: string | (LiveSiteOptions & StoreOptions),
  options: LiveSiteOptions = {},
): Promise<LiveSite> {
  if (typeof from !== 'object' || from === null) {
    return await openStagedSite(from, resolveLiveSiteOptions(options))
  }
  const given = resolveLiveSiteOptions(withoutStore(from))
  const live = await openStagedSite(from, given)
  const following = followStore(live, () => live.reload(), given)
  const close = live.close.bind(live)
  return Object.assign(live, {
    close() {
      following.close()
      close()
    },
  })
}
