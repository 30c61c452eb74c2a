import type { Finding } from './finding.ts'
import type { Proxy } from './detect-proxies.ts'

/** One sentence for each part. `{names}`, `{details}` and `{bytes}` are placeholders for observed values. */
export interface FindingMessage {
  readonly level: Finding['level']
  readonly what: string
  readonly cost: string
  readonly mend: string
  /** Replacements of `mend` for the proxies that were seen. */
  readonly by?: Partial<Readonly<Record<Proxy, string>>>
}

export type SiteFindingCode =
  | 'failed'
  | 'gone'
  | 'other-build'
  | 'other-path'
  | 'redirected'
  | 'other-bytes'
  | 'broken-coding'
  | 'not-decoded'
  | 'unasked-coding'
  | 'stripped'
  | 'recompressed'
  | 'no-etag'
  | 'shared-etag'
  | 'etag-changes'
  | 'no-304'
  | 'no-vary'
  | 'no-dictionary-vary'
  | 'unasked-delta'
  | 'hashed-not-kept'
  | 'page-kept'
  | 'file-kept'
  | 'page-aged'
  | 'missing-as-page'
  | 'missing-kept'
  | 'http1'
  | 'plain-http'
  | 'media-type'
  | 'field-lost'
  | 'policy-lost'
  | 'policy-mode'
  | 'policy-changed'

const oldPages = 'After a deployment, visitors continue with the old page, and its scripts may be gone'

const passCacheControl = {
  mend: "Do not change serve-dist's Cache-Control",
  by: {
    nginx: 'remove expires and add_header Cache-Control',
    Cloudflare: 'set Browser Cache TTL to Respect Existing Headers',
  },
}

export const findingMessages: Readonly<Record<SiteFindingCode, FindingMessage>> = {
  failed: {
    level: 'error',
    what: 'no complete response for {names} ({details})',
    cost: 'Visitors wait or see an error',
    mend: 'Look for the reason in the logs of the server and its proxies',
  },
  gone: {
    level: 'error',
    what: '{names} gets {details}, although the build contains it',
    cost: 'Pages that need these files break',
    mend: 'Deploy the whole folder, or name the deployed build with --build',
  },
  'other-build': {
    level: 'error',
    what: '{details}',
    cost: 'The site serves another build',
    mend: 'Deploy this build or restart its server, or name the deployed build with --build',
  },
  'other-path': {
    level: 'error',
    what: '{details} below {names}',
    cost: 'The site serves this build at another path, or does not serve it',
    mend: 'Correct the path of the URL, or leave it out',
  },
  redirected: {
    level: 'warning',
    what: '{names} redirects to {details}',
    cost: 'Each visit takes one more round trip',
    mend: 'Do not rewrite paths',
    by: { nginx: 'write proxy_pass without a path, and remove rewrite' },
  },
  'other-bytes': {
    level: 'error',
    what: 'the content of {names} differs from the build',
    cost: 'Visitors run code that was never tested',
    mend: 'Turn off proxy features that rewrite responses, or name the deployed build with --build',
    by: {
      nginx: 'remove sub_filter, ssi and add_after_body',
      'ingress-nginx': 'remove sub_filter from its snippets',
      Cloudflare: 'turn off Rocket Loader, Email Address Obfuscation and other features that rewrite pages',
    },
  },
  'broken-coding': {
    level: 'error',
    what: 'the {details} body of {names} cannot be decoded',
    cost: 'Browsers show an error instead',
    mend: 'Make sure that each proxy changes a body and its Content-Encoding together',
  },
  'not-decoded': {
    level: 'warning',
    what: 'the {details} bytes of {names} differ from the build',
    cost: `Node.js ${process.versions.node} cannot decode them, so they may be wrong`,
    mend: 'Run the check with Node.js 22.15 or newer, or install without --omit=optional',
  },
  'unasked-coding': {
    level: 'error',
    what: 'clients get {details} of {names} without asking for it',
    cost: 'These clients cannot read it',
    mend: 'Make every cache obey Vary',
    by: {
      nginx: 'remove Vary from proxy_ignore_headers',
      Varnish: 'keep Vary in vcl_backend_response',
    },
  },
  stripped: {
    level: 'warning',
    what: '{details} of {names} did not arrive',
    cost: '{bytes}',
    mend: "Forward the client's Accept-Encoding to serve-dist",
    by: {
      nginx: 'remove proxy_set_header Accept-Encoding and gunzip',
      'ingress-nginx': 'remove proxy_set_header Accept-Encoding from its snippets',
      Cloudflare: 'allow Zstandard and Brotli in the Compression Rules',
      Varnish: 'start it with -p http_gzip_support=off',
      CloudFront: 'set EnableAcceptEncodingBrotli and EnableAcceptEncodingGzip in its cache policy',
    },
  },
  recompressed: {
    level: 'warning',
    what: 'a proxy compressed these files again ({details}): {names}',
    cost: 'This takes CPU time for each request and weakens entity tags. {bytes}',
    mend: "Turn off the proxy's own compression",
    by: {
      nginx: 'set gzip off',
      'ingress-nginx': 'set use-gzip: "false" and enable-brotli: "false" in its ConfigMap',
      Cloudflare: 'add a Compression Rule that keeps codings, or send Cache-Control: no-transform',
      Varnish: 'remove do_gzip from vcl_backend_response',
      Caddy: 'remove encode',
    },
  },
  'no-etag': {
    level: 'warning',
    what: 'no ETag on {names}',
    cost: 'Returning visitors load the whole file instead of getting a 304',
    mend: 'Do not remove ETag',
    by: {
      nginx: 'remove proxy_hide_header ETag and directives that rewrite bodies (sub_filter, ssi)',
      Cloudflare: 'turn off features that rewrite pages, and turn on Respect Strong ETags',
    },
  },
  'shared-etag': {
    level: 'error',
    what: 'the same strong ETag for different bytes of {names}',
    cost: 'Caches and resumed downloads mix these bytes',
    mend: 'Make sure that no proxy changes a body but keeps its ETag',
    by: { Caddy: 'turn off compression in the transport of reverse_proxy' },
  },
  'etag-changes': {
    level: 'error',
    what: '{details} for {names}',
    cost: 'Visitors of another replica load everything again, or one page mixes files of two builds',
    mend: 'Serve the same build on all replicas, with ETags that depend only on the content',
    by: {
      nginx: 'let serve-dist answer, or copy files with their times, from which nginx derives ETags',
    },
  },
  'no-304': {
    level: 'warning',
    what: 'no 304 for {names} to a client with the current version',
    cost: 'Returning visitors load the whole file',
    mend: 'Forward If-None-Match to serve-dist',
    by: {
      nginx:
        'remove proxy_set_header If-None-Match and If-Modified-Since, and do not cache pages (proxy_cache)',
      Varnish: 'keep If-None-Match in vcl_recv and ETag in vcl_backend_response',
    },
  },
  'no-vary': {
    level: 'error',
    what: 'no Vary: Accept-Encoding on {names}',
    cost: 'A cache sends one coding to all clients, even if they cannot read it',
    mend: 'Do not remove Vary',
    by: {
      nginx: 'remove proxy_hide_header Vary',
      'ingress-nginx': 'remove proxy_hide_header Vary from its snippets',
      Varnish: 'keep Vary in vcl_backend_response and vcl_deliver',
    },
  },
  'no-dictionary-vary': {
    level: 'error',
    what: 'no Vary: Available-Dictionary on {names}, which browsers keep as a dictionary',
    cost: 'A cache sends the delta of one visitor to other visitors, and they cannot read it',
    mend: 'Do not remove Vary, or publish with --no-deltas',
  },
  'unasked-delta': {
    level: 'error',
    what: 'clients get {details} for {names} without offering its dictionary',
    cost: 'Visitors cannot read it, and pages that need it break',
    mend: 'Remove the rule sharedCache, and purge caches that ignore Vary',
  },
  'hashed-not-kept': {
    level: 'warning',
    what: 'Cache-Control of hashed files ({names}) is "{details}"',
    cost: 'Browsers revalidate these files, although they never change',
    ...passCacheControl,
  },
  'page-kept': {
    level: 'error',
    what: 'Cache-Control of pages ({names}) is "{details}"',
    cost: oldPages,
    ...passCacheControl,
  },
  'file-kept': {
    level: 'warning',
    what: 'Cache-Control of files without a hash ({names}) is "{details}"',
    cost: 'After a deployment, browsers continue with the old files',
    ...passCacheControl,
  },
  'page-aged': {
    level: 'error',
    what: 'a cache keeps pages ({names}, for {details} s already)',
    cost: oldPages,
    mend: "Make it obey serve-dist's no-cache, or purge pages at each deployment",
    by: {
      nginx: 'remove proxy_cache_valid, and Cache-Control from proxy_ignore_headers',
      Varnish: 'do not set beresp.ttl and beresp.grace for pages',
      Cloudflare: 'set Edge TTL to use the Cache-Control header, or purge pages at each deployment',
    },
  },
  'missing-as-page': {
    level: 'error',
    what: '{details} for {names}, a script that no build contains',
    cost: 'Visitors with a page of the previous build see a blank page without an error',
    mend: 'Answer 404 for missing files in the assets folder',
    by: {
      nginx: 'remove error_page 404 =200, and try_files to index.html for this folder',
      'ingress-nginx': 'remove custom-http-errors: 404, or let its page answer 404',
    },
  },
  'missing-kept': {
    level: 'warning',
    what: 'the 404 for {names} may be cached ("{details}")',
    cost: 'A script that is requested too early in a deployment stays missing',
    mend: "Do not change serve-dist's no-store",
    by: { nginx: 'remove proxy_cache_valid 404 and add_header Cache-Control … always' },
  },
  http1: {
    level: 'warning',
    what: 'HTTP/2 is not offered',
    cost: 'A page with many files loads six at a time',
    mend: 'Make the TLS endpoint offer h2',
    by: {
      nginx: 'write listen 443 ssl http2 (from 1.25.1 on: http2 on)',
      'ingress-nginx': 'set use-http2: "true" in its ConfigMap',
      Cloudflare: 'turn on HTTP/2 (Speed, Settings, Protocol)',
    },
  },
  'plain-http': {
    level: 'warning',
    what: 'the address is plain HTTP',
    cost: 'Browsers use neither br nor zstd nor HTTP/2, and anyone on the network can change pages',
    mend: 'Serve HTTPS',
  },
  'media-type': {
    level: 'error',
    what: 'Content-Type of {names} is {details}',
    cost: 'Browsers reject or misread these files',
    mend: "Do not change serve-dist's Content-Type",
    by: { nginx: 'remove default_type and types for proxied files' },
  },
  'field-lost': {
    level: 'warning',
    what: '{details} of {names} did not arrive',
    cost: 'Browsers ignore settings of the build and its rules',
    mend: 'Do not remove the header',
    by: { nginx: 'remove proxy_hide_header', Cloudflare: 'remove the Transform Rule that removes it' },
  },
  'policy-lost': {
    level: 'warning',
    what: '{details} of {names} did not arrive',
    cost: 'Browsers do not apply the policy of the build',
    mend: 'If the server has --csp off, set the variable CSP to off for the check. Else do not remove the header',
    by: {
      nginx:
        'remove proxy_hide_header, or set the variable CSP to off for the check if the server has --csp off',
    },
  },
  'policy-mode': {
    level: 'warning',
    what: 'the policy of {names} arrived as {details}',
    cost: 'The check expects the other mode',
    mend: "Set the variable CSP to the server's mode for the check, or unset it if the server has neither CSP nor --csp",
  },
  'policy-changed': {
    level: 'error',
    what: 'a proxy changed the policy: {details} of {names}',
    cost: 'Browsers block files that the build needs, or run code that it forbids. If there are two policies, both apply',
    mend: "Do not change serve-dist's header, and do not send a second one",
    by: { nginx: 'remove add_header for this header', Cloudflare: 'remove the Transform Rule that sets it' },
  },
}
