import { OperatorError } from '@serve-dist/manifest'
import { findProxying } from '../site/redirects.ts'
import type { Site } from '../site/site.ts'

/** Rejects a site with a rule that proxies, for hosts that cannot forward requests. */
export function refuseProxying(site: Site): void {
  const proxying = findProxying(site)
  if (proxying === undefined) return
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `redirects: the rule ${proxying.from} proxies, which only the command serve-dist and serve() can. Use them, or remove the rule.`,
  )
}
