import { memoizeWeakly } from './memoize-weakly.ts'
import type { Site } from './site.ts'

/** Returns a site whose pages answer only for their own paths. */
export const withoutFallbackPages: (site: Site) => Site = memoizeWeakly((site: Site): Site => ({
  ...site,
  index: undefined,
  singlePage: undefined,
  notFound: undefined,
  redirects: site.redirects.flatMap((rule) => {
    if (rule.status === 503) return [{ ...rule, target: undefined }]
    return rule.target?.isPage === true ? [] : [rule]
  }),
  ...(site.parts !== undefined && { parts: site.parts.map((part) => withoutFallbackPages(part)) }),
}))
