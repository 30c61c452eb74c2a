import type { ResolvedLiveSiteOptions } from '../load/load-options.ts'
import { describeReload } from './describe-reload.ts'
import type { StagedSite } from './open-staged-site.ts'
import type { ReloadOutcome } from './reload-outcome.ts'
import { followBuilds } from './watch-builds.ts'

/** Takes each build that becomes current in the store of a site, if it has one. */
export function followStore(
  { watched }: Pick<StagedSite, 'watched'>,
  reload: () => Promise<ReloadOutcome>,
  { onWarning }: Pick<ResolvedLiveSiteOptions, 'onWarning'>,
): { close(): void } {
  if (watched === undefined) return { close() {} }
  return followBuilds(watched, reload, (outcome) => {
    if (outcome.status === 'refused') onWarning(describeReload(outcome))
  })
}
