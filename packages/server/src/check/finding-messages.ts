import type { Finding } from './finding.ts'
import type { Proxy } from './detect-proxies.ts'

/** The parts of a sentence, with `{names}`, `{details}` and `{bytes}` in the places of what was seen. */
export interface FindingMessage {
  readonly level: Finding['level']
  readonly what: string
  readonly cost: string
  readonly mend: string
  /** In the place of `mend`, where that proxy was seen. */
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

const oldPages = 'after a deployment visitors go on with the old page, whose scripts may be gone'

const passCacheControl = {
  mend: "let serve-dist's Cache-Control through",
  by: {
    nginx: 'remove expires and add_header Cache-Control',
    Cloudflare: 'Browser Cache TTL: Respect Existing Headers',
  },
}

/** The sentence of each finding about a site. */
export const findingMessages: Readonly<Record<SiteFindingCode, FindingMessage>> = {
  failed: {
    level: 'error',
    what: 'no whole answer for {names} ({details})',
    cost: 'visitors wait, or see an error',
    mend: 'the logs of the server and of what stands in front of it have the reason',
  },
  gone: {
    level: 'error',
    what: '{details} for {names}, which the build has',
    cost: 'pages that need it break',
    mend: 'deploy the whole folder, or name the build that is deployed with --build',
  },
  'other-build': {
    level: 'error',
    what: '{details} are missing or have other bytes',
    cost: 'the site serves another build than the one to compare with',
    mend: 'deploy it, or name the build that is deployed with --build',
  },
  redirected: {
    level: 'warning',
    what: 'a redirect to {details} for {names}',
    cost: 'each visit takes a round trip more',
    mend: 'let paths through as they are',
    by: { nginx: 'proxy_pass without a path, no rewrite' },
  },
  'other-bytes': {
    level: 'error',
    what: 'other bytes than the build has in {names}',
    cost: 'visitors run what nobody built or tested',
    mend: 'turn off what rewrites answers on the way, or name the build that is deployed with --build',
    by: {
      nginx: 'remove sub_filter, ssi and add_after_body',
      'ingress-nginx': 'remove sub_filter from its snippets',
      Cloudflare: 'turn off Rocket Loader, Email Address Obfuscation and what else rewrites pages',
    },
  },
  'broken-coding': {
    level: 'error',
    what: 'the {details} of {names} cannot be decoded',
    cost: 'browsers show an error in its place',
    mend: 'let nothing on the way change a body and keep its Content-Encoding, or the other way round',
  },
  'not-decoded': {
    level: 'warning',
    what: 'other {details} bytes than the build has in {names}',
    cost: `Node.js ${process.versions.node} cannot decode them, so nobody knows whether they are right`,
    mend: 'run the check with Node.js 22.15 or newer, or install without --omit=optional',
  },
  'unasked-coding': {
    level: 'error',
    what: '{details} for clients that did not ask for it, of {names}',
    cost: 'they cannot read it',
    mend: 'let every cache on the way obey Vary',
    by: {
      nginx: 'remove Vary from proxy_ignore_headers',
      Varnish: 'keep Vary in vcl_backend_response',
    },
  },
  stripped: {
    level: 'warning',
    what: 'codings lost on the way: {details} of {names}',
    cost: '{bytes}',
    mend: "let the client's Accept-Encoding through to serve-dist",
    by: {
      nginx: 'remove proxy_set_header Accept-Encoding and gunzip',
      'ingress-nginx': 'remove proxy_set_header Accept-Encoding from its snippets',
      Cloudflare: 'allow Zstandard and Brotli in its Compression Rules',
      Varnish: 'start it with -p http_gzip_support=off',
      CloudFront: 'EnableAcceptEncodingBrotli and EnableAcceptEncodingGzip in its cache policy',
    },
  },
  recompressed: {
    level: 'warning',
    what: 'compressed ({details}) again on the way: {names}',
    cost: 'it takes CPU time at each request, and weakens entity tags; {bytes}',
    mend: "turn the proxy's own compression off",
    by: {
      nginx: 'gzip off',
      'ingress-nginx': 'use-gzip: "false" and enable-brotli: "false" in its ConfigMap',
      Cloudflare: 'a Compression Rule that leaves codings as they come, or Cache-Control: no-transform',
      Varnish: 'no do_gzip in vcl_backend_response',
      Caddy: 'no encode',
    },
  },
  'no-etag': {
    level: 'warning',
    what: 'no ETag on {names}',
    cost: 'returning visitors load the whole file, where a 304 would do',
    mend: 'let ETag through',
    by: {
      nginx: 'remove proxy_hide_header ETag and what rewrites bodies (sub_filter, ssi)',
      Cloudflare: 'turn off what rewrites pages, and Respect Strong ETags on',
    },
  },
  'shared-etag': {
    level: 'error',
    what: 'one strong ETag for different bytes of {names}',
    cost: 'caches and resumed downloads mix them up',
    mend: 'let nothing on the way change a body and keep its ETag',
    by: { Caddy: 'compression off in the transport of reverse_proxy' },
  },
  'etag-changes': {
    level: 'error',
    what: '{details} for {names}',
    cost: 'a visitor at another replica loads everything again, or files of two builds on one page',
    mend: 'serve the same build on all replicas, with tags made of the content, as those of serve-dist are',
    by: { nginx: 'nginx makes tags of times: let serve-dist answer, or copy files with their times' },
  },
  'no-304': {
    level: 'warning',
    what: 'no 304 for {names} to a client that has it',
    cost: 'returning visitors load the whole file',
    mend: 'let If-None-Match through to serve-dist',
    by: {
      nginx: 'remove proxy_set_header If-None-Match and If-Modified-Since; no proxy_cache for pages',
      Varnish: 'keep If-None-Match in vcl_recv and ETag in vcl_backend_response',
    },
  },
  'no-vary': {
    level: 'error',
    what: 'no Vary: Accept-Encoding on {names}',
    cost: 'a cache gives one coding to everybody, readable or not',
    mend: 'let Vary through',
    by: {
      nginx: 'remove proxy_hide_header Vary',
      'ingress-nginx': 'remove proxy_hide_header Vary from its snippets',
      Varnish: 'keep Vary in vcl_backend_response and vcl_deliver',
    },
  },
  'no-dictionary-vary': {
    level: 'error',
    what: 'no Vary: Available-Dictionary on {names}, which browsers are told to keep as a dictionary',
    cost: 'a cache gives the delta of one visitor to others, who cannot read it',
    mend: 'let Vary through, or publish with --no-deltas',
  },
  'unasked-delta': {
    level: 'error',
    what: '{details} for {names} to who did not offer the dictionary of it',
    cost: 'visitors cannot read it, and pages that need it break',
    mend: 'keep deltas out of caches that ignore Vary: remove the rule sharedCache, and purge them',
  },
  'hashed-not-kept': {
    level: 'warning',
    what: 'Cache-Control of hashed files ({names}) is "{details}"',
    cost: 'browsers ask for them again, though they never change',
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
    cost: 'after a deployment browsers go on with the old ones',
    ...passCacheControl,
  },
  'page-aged': {
    level: 'error',
    what: 'a cache on the way keeps pages ({names}, for {details} s by now)',
    cost: oldPages,
    mend: "let it obey serve-dist's no-cache, or purge pages at each deployment",
    by: {
      nginx: 'remove proxy_cache_valid, and Cache-Control from proxy_ignore_headers',
      Varnish: 'set no beresp.ttl and beresp.grace for pages',
      Cloudflare: 'Edge TTL: use the Cache-Control header, or purge pages at each deployment',
    },
  },
  'missing-as-page': {
    level: 'error',
    what: '{details} for {names}, a script that no build has',
    cost: 'visitors with a page of the build before see a blank one, and nobody learns why',
    mend: 'answer 404 to what is missing under the assets folder',
    by: {
      nginx: 'no error_page 404 =200, and no try_files to index.html there',
      'ingress-nginx': 'no custom-http-errors: 404 with a page that answers 200',
    },
  },
  'missing-kept': {
    level: 'warning',
    what: 'the 404 for {names} may be kept ("{details}")',
    cost: 'a script that is asked for too early in a deployment stays missing',
    mend: "let serve-dist's no-store through",
    by: { nginx: 'no proxy_cache_valid 404 and no add_header Cache-Control … always' },
  },
  http1: {
    level: 'warning',
    what: 'HTTP/2 is not offered',
    cost: 'a page with many files loads six at a time',
    mend: 'let what ends TLS offer h2',
    by: {
      nginx: 'listen 443 ssl http2 (from 1.25.1 on: http2 on)',
      'ingress-nginx': 'use-http2: "true" in its ConfigMap',
      Cloudflare: 'Speed, Settings, Protocol: HTTP/2',
    },
  },
  'plain-http': {
    level: 'warning',
    what: 'the address is plain HTTP',
    cost: 'browsers take neither br nor zstd nor HTTP/2 over it, and anybody on the way can change pages',
    mend: 'serve HTTPS',
  },
  'media-type': {
    level: 'error',
    what: 'Content-Type of {names} is {details}',
    cost: 'browsers refuse or misread it',
    mend: "let serve-dist's Content-Type through",
    by: { nginx: 'no default_type and types of its own for proxied files' },
  },
  'field-lost': {
    level: 'warning',
    what: 'fields lost on the way: {details} of {names}',
    cost: 'browsers do not do what the build and its rules want',
    mend: 'let the field through',
    by: { nginx: 'remove proxy_hide_header', Cloudflare: 'remove the Transform Rule that removes it' },
  },
  'policy-changed': {
    level: 'error',
    what: 'another policy on the way: {details} of {names}',
    cost: 'browsers block what the build needs, or run what it would not; of two policies both count',
    mend: "let serve-dist's field through, and send none beside it",
    by: { nginx: 'remove add_header for this field', Cloudflare: 'remove the Transform Rule that sets it' },
  },
}
