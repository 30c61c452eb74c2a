import type { ResolvedLiveSiteOptions } from '../load/load-options.ts'
import { describeReload } from './describe-reload.ts'
import type { StagedSite } from './open-staged-site.ts'
import type { ReloadOutcome } from './reload-outcome.ts'
import { followBuilds } from './watch-builds.ts'

/** Reloads the site when another build becomes current in its store. Does nothing for a folder. */
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
