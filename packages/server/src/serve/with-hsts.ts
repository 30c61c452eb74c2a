import type { SiteStoreOptions } from '../load/load-options.ts'

/** A site whose files are sent with `Strict-Transport-Security`, weaker than any rule for that field. */
export function withHsts(site: SiteStoreOptions, value: string | undefined): SiteStoreOptions {
  if (value === undefined) return site
  // The first rule is the weakest. Written so, the glob for everything is nobody else's key.
  const headers = { '{**,**}': { 'Strict-Transport-Security': value }, ...site.rules?.headers }
  return { ...site, rules: { ...site.rules, headers } }
}
