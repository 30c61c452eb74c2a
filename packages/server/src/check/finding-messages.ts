import type { Finding } from './finding.ts'
import type { Proxy } from './detect-proxies.ts'

/** The parts of a sentence. `{names}`, `{details}` and `{bytes}` are placeholders for observed values. */
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
  | 'policy-changed'

const oldPages = 'after a deployment, visitors continue with the old page, and its scripts may be gone'

const passCacheControl = {
  mend: "do not change serve-dist's Cache-Control",
  by: {
    nginx: 'remove expires and add_header Cache-Control',
    Cloudflare: 'Browser Cache TTL: Respect Existing Headers',
  },
}

export const findingMessages: Readonly<Record<SiteFindingCode, FindingMessage>> = {
  failed: {
    level: 'error',
    what: 'no complete response for {names} ({details})',
    cost: 'visitors wait or see an error',
    mend: 'look for the reason in the logs of the server and its proxies',
  },
  gone: {
    level: 'error',
    what: '{details} for {names}, which the build contains',
    cost: 'pages that need these files break',
    mend: 'deploy the whole folder, or name the deployed build with --build',
  },
  'other-build': {
    level: 'error',
    what: '{details} are missing or differ',
    cost: 'the site serves another build',
    mend: 'deploy this build, or name the deployed build with --build',
  },
  redirected: {
    level: 'warning',
    what: 'a redirect to {details} for {names}',
    cost: 'each visit takes one more round trip',
    mend: 'do not rewrite paths',
    by: { nginx: 'proxy_pass without a path, no rewrite' },
  },
  'other-bytes': {
    level: 'error',
    what: 'the content of {names} differs from the build',
    cost: 'visitors run code that was never tested',
    mend: 'turn off proxy features that rewrite responses, or name the deployed build with --build',
    by: {
      nginx: 'remove sub_filter, ssi and add_after_body',
      'ingress-nginx': 'remove sub_filter from its snippets',
      Cloudflare: 'turn off Rocket Loader, Email Address Obfuscation and other features that rewrite pages',
    },
  },
  'broken-coding': {
    level: 'error',
    what: 'the {details} body of {names} cannot be decoded',
    cost: 'browsers show an error instead',
    mend: 'make sure that each proxy changes a body and its Content-Encoding together',
  },
  'not-decoded': {
    level: 'warning',
    what: 'the {details} bytes of {names} differ from the build',
    cost: `Node.js ${process.versions.node} cannot decode them, so they may be wrong`,
    mend: 'run the check with Node.js 22.15 or newer, or install without --omit=optional',
  },
  'unasked-coding': {
    level: 'error',
    what: '{details} of {names} for clients that did not ask for it',
    cost: 'these clients cannot read it',
    mend: 'make every cache obey Vary',
    by: {
      nginx: 'remove Vary from proxy_ignore_headers',
      Varnish: 'keep Vary in vcl_backend_response',
    },
  },
  stripped: {
    level: 'warning',
    what: 'codings lost on the way: {details} of {names}',
    cost: '{bytes}',
    mend: "forward the client's Accept-Encoding to serve-dist",
    by: {
      nginx: 'remove proxy_set_header Accept-Encoding and gunzip',
      'ingress-nginx': 'remove proxy_set_header Accept-Encoding from its snippets',
      Cloudflare: 'allow Zstandard and Brotli in the Compression Rules',
      Varnish: 'start it with -p http_gzip_support=off',
      CloudFront: 'EnableAcceptEncodingBrotli and EnableAcceptEncodingGzip in its cache policy',
    },
  },
  recompressed: {
    level: 'warning',
    what: 'a proxy compressed these files again ({details}): {names}',
    cost: 'this takes CPU time for each request and weakens entity tags; {bytes}',
    mend: "turn off the proxy's own compression",
    by: {
      nginx: 'gzip off',
      'ingress-nginx': 'use-gzip: "false" and enable-brotli: "false" in its ConfigMap',
      Cloudflare: 'a Compression Rule that keeps codings, or Cache-Control: no-transform',
      Varnish: 'no do_gzip in vcl_backend_response',
      Caddy: 'no encode',
    },
  },
  'no-etag': {
    level: 'warning',
    what: 'no ETag on {names}',
    cost: 'returning visitors load the whole file instead of getting a 304',
    mend: 'do not remove ETag',
    by: {
      nginx: 'remove proxy_hide_header ETag and directives that rewrite bodies (sub_filter, ssi)',
      Cloudflare: 'turn off features that rewrite pages, and turn on Respect Strong ETags',
    },
  },
  'shared-etag': {
    level: 'error',
    what: 'the same strong ETag for different bytes of {names}',
    cost: 'caches and resumed downloads mix these bytes',
    mend: 'make sure that no proxy changes a body but keeps its ETag',
    by: { Caddy: 'turn off compression in the transport of reverse_proxy' },
  },
  'etag-changes': {
    level: 'error',
    what: '{details} for {names}',
    cost: 'visitors of another replica load everything again, or mix files of two builds on one page',
    mend: 'serve the same build on all replicas, with ETags that depend only on the content, such as those of serve-dist',
    by: {
      nginx: 'nginx derives ETags from file times: let serve-dist answer, or copy files with their times',
    },
  },
  'no-304': {
    level: 'warning',
    what: 'no 304 for {names} to a client with the current version',
    cost: 'returning visitors load the whole file',
    mend: 'forward If-None-Match to serve-dist',
    by: {
      nginx: 'remove proxy_set_header If-None-Match and If-Modified-Since; no proxy_cache for pages',
      Varnish: 'keep If-None-Match in vcl_recv and ETag in vcl_backend_response',
    },
  },
  'no-vary': {
    level: 'error',
    what: 'no Vary: Accept-Encoding on {names}',
    cost: 'a cache sends one coding to all clients, even if they cannot read it',
    mend: 'do not remove Vary',
    by: {
      nginx: 'remove proxy_hide_header Vary',
      'ingress-nginx': 'remove proxy_hide_header Vary from its snippets',
      Varnish: 'keep Vary in vcl_backend_response and vcl_deliver',
    },
  },
  'no-dictionary-vary': {
    level: 'error',
    what: 'no Vary: Available-Dictionary on {names}, which browsers keep as a dictionary',
    cost: 'a cache sends the delta of one visitor to other visitors, and they cannot read it',
    mend: 'do not remove Vary, or publish with --no-deltas',
  },
  'unasked-delta': {
    level: 'error',
    what: '{details} for {names}, sent to clients that did not offer its dictionary',
    cost: 'visitors cannot read it, and pages that need it break',
    mend: 'keep deltas out of caches that ignore Vary: remove the rule sharedCache, and purge these caches',
  },
  'hashed-not-kept': {
    level: 'warning',
    what: 'Cache-Control of hashed files ({names}) is "{details}"',
    cost: 'browsers revalidate these files, although they never change',
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
    cost: 'after a deployment, browsers continue with the old files',
    ...passCacheControl,
  },
  'page-aged': {
    level: 'error',
    what: 'a cache keeps pages ({names}, for {details} s already)',
    cost: oldPages,
    mend: "make it obey serve-dist's no-cache, or purge pages at each deployment",
    by: {
      nginx: 'remove proxy_cache_valid, and Cache-Control from proxy_ignore_headers',
      Varnish: 'set no beresp.ttl and beresp.grace for pages',
      Cloudflare: 'Edge TTL: use the Cache-Control header, or purge pages at each deployment',
    },
  },
  'missing-as-page': {
    level: 'error',
    what: '{details} for {names}, a script that no build contains',
    cost: 'visitors with a page of the previous build see a blank page without an error',
    mend: 'answer 404 for missing files in the assets folder',
    by: {
      nginx: 'no error_page 404 =200, and no try_files to index.html there',
      'ingress-nginx': 'no custom-http-errors: 404 with a page that answers 200',
    },
  },
  'missing-kept': {
    level: 'warning',
    what: 'the 404 for {names} may be cached ("{details}")',
    cost: 'a script that is requested too early in a deployment stays missing',
    mend: "do not change serve-dist's no-store",
    by: { nginx: 'no proxy_cache_valid 404 and no add_header Cache-Control … always' },
  },
  http1: {
    level: 'warning',
    what: 'HTTP/2 is not offered',
    cost: 'a page with many files loads six at a time',
    mend: 'make the TLS endpoint offer h2',
    by: {
      nginx: 'listen 443 ssl http2 (from 1.25.1 on: http2 on)',
      'ingress-nginx': 'use-http2: "true" in its ConfigMap',
      Cloudflare: 'Speed, Settings, Protocol: HTTP/2',
    },
  },
  'plain-http': {
    level: 'warning',
    what: 'the address is plain HTTP',
    cost: 'browsers use neither br nor zstd nor HTTP/2, and anyone on the network can change pages',
    mend: 'serve HTTPS',
  },
  'media-type': {
    level: 'error',
    what: 'Content-Type of {names} is {details}',
    cost: 'browsers reject or misread these files',
    mend: "do not change serve-dist's Content-Type",
    by: { nginx: 'no default_type and no types for proxied files' },
  },
  'field-lost': {
    level: 'warning',
    what: 'headers lost on the way: {details} of {names}',
    cost: 'browsers ignore settings of the build and its rules',
    mend: 'do not remove the header',
    by: { nginx: 'remove proxy_hide_header', Cloudflare: 'remove the Transform Rule that removes it' },
  },
  'policy-changed': {
    level: 'error',
    what: 'a proxy changed the policy: {details} of {names}',
    cost: 'browsers block files that the build needs, or run code that it forbids; two policies both apply',
    mend: "do not change serve-dist's header, and do not send a second one",
    by: { nginx: 'remove add_header for this header', Cloudflare: 'remove the Transform Rule that sets it' },
  },
}
