import type { Fallback } from '@serve-dist/manifest'
import type { RequestFields } from '../protocol/request-fields.ts'
import { decide, fallbackFor, type HostRole } from '../site/decide.ts'
import { isSkewMiss } from '../site/missing-asset.ts'
import type { Answer, Site } from '../site/site.ts'
import type { SiteHolder } from '../site/site-holder.ts'

/** Options of the host. */
export interface HostOptions {
  readonly role: HostRole
  readonly fallback: Fallback | undefined
  readonly fileSystemFallback: boolean
}

/**
 * Returns whether a newer build may contain the path. This replica may be behind, and the tab ahead of it.
 */
export function mayBelongToNewerBuild(
  site: Site,
  request: RequestFields,
  answer: Answer | undefined,
): boolean {
  return (answer === undefined || answer.status === 404) && isSkewMiss(site, request)
}

/**
 * 8. Answers a path that the table lacks: first from the disk, if the operator enabled that, then from a
 *   newer build.
 */
export async function decideUnlistedPath(
  holder: SiteHolder,
  request: RequestFields,
  { role, fallback, fileSystemFallback }: HostOptions,
): Promise<Answer | undefined> {
  // Another build may become current at each turn of the event loop.
  const decideNow = (): Answer | undefined =>
    decide(holder.current, request, fallbackFor(holder.current, role, fallback))
  if (fileSystemFallback) {
    const { findOnDisk } = await import('./find-on-disk.ts')
    const found = await findOnDisk(holder.current, request)
    if (found !== undefined) return found
  }
  const answer = decideNow()
  if (holder.refreshForMissingAsset === undefined || !mayBelongToNewerBuild(holder.current, request, answer))
    return answer
  await holder.refreshForMissingAsset()
  return decideNow()
}
