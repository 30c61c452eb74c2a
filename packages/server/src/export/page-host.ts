/** A host that supports `_headers` and `_redirects`. */
export interface PageHost {
  readonly name: string
  /** The name of the folder to upload. */
  readonly folder: string
  /** The documented limits; `Infinity` if there is no limit. */
  readonly limits: PageHostLimits
  /** Whether a later rule can remove a header of an earlier one (`! Name`). Otherwise the host joins the values. */
  readonly detaches: boolean
  /** Whether redirects apply even if a file exists. Otherwise they need a `!`. */
  readonly alwaysRedirects: boolean
  /** Whether a rule can answer 404 with a page. */
  readonly has404Rules: boolean
  /** Whether `/about.html` redirects to `/about`, so that only the headers of `/about` apply. */
  readonly dropsHtml: boolean
}

interface PageHostLimits {
  readonly headerRules: number
  /** The characters in a line of `_headers`. */
  readonly headerLine: number
  readonly staticRedirects: number
  /** Redirects with `*` or a `:name`. */
  readonly dynamicRedirects: number
  /** The characters in a line of `_redirects`. */
  readonly redirectLine: number
  readonly files: number
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
