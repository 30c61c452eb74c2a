/** A host that takes a folder with `_headers` and `_redirects`. */
export interface PageHost {
  readonly name: string
  /** Of the folder that is uploaded. */
  readonly folder: string
  /** As the host documents them; `Infinity` where it names none. */
  readonly limits: PageHostLimits
  /** Whether a later rule can take a field away that an earlier one has set (`! Name`); else their values are joined. */
  readonly detaches: boolean
  /** Whether redirects count where the build has a file, too; else a `!` says so. */
  readonly alwaysRedirects: boolean
  /** Whether a rule may answer 404 with a page. */
  readonly has404Rules: boolean
  /** Whether `/about.html` is redirected to `/about`, so that fields of the latter alone count. */
  readonly dropsHtml: boolean
}

interface PageHostLimits {
  readonly headerRules: number
  /** Characters of a line of `_headers`. */
  readonly headerLine: number
  readonly staticRedirects: number
  /** Those with `*` or a `:name`. */
  readonly dynamicRedirects: number
  /** Characters of a line of `_redirects`. */
  readonly redirectLine: number
  readonly files: number
  /** In bytes, of one file. */
  readonly fileSize: number
}

const none = Number.POSITIVE_INFINITY

export const netlify: PageHost = {
  name: 'Netlify',
  folder: 'netlify',
  limits: {
    headerRules: none,
    headerLine: none,
    staticRedirects: none,
    dynamicRedirects: none,
    redirectLine: none,
    files: none,
    fileSize: none,
  },
  detaches: false,
  alwaysRedirects: false,
  has404Rules: true,
  dropsHtml: false,
}

// developers.cloudflare.com/pages: configuration/headers, configuration/redirects, platform/limits.
export const cloudflarePages: PageHost = {
  name: 'Cloudflare Pages',
  folder: 'cloudflare-pages',
  limits: {
    headerRules: 100,
    headerLine: 2000,
    staticRedirects: 2000,
    dynamicRedirects: 100,
    redirectLine: 1000,
    files: 20_000,
    fileSize: 25 * 1024 * 1024,
  },
  detaches: true,
  alwaysRedirects: true,
  has404Rules: false,
  dropsHtml: true,
}
