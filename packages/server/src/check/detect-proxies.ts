import type { IncomingHttpHeaders } from 'node:http'

/** A proxy that adds recognizable headers to responses. */
export type Proxy = 'nginx' | 'ingress-nginx' | 'Cloudflare' | 'Varnish' | 'CloudFront' | 'Fastly' | 'Caddy'

const signs: readonly (readonly [Proxy, (fields: IncomingHttpHeaders) => boolean])[] = [
  // The default HSTS header and the sticky-session cookie of the Kubernetes controller.
  [
    'ingress-nginx',
    (fields) =>
      String(fields['strict-transport-security']).startsWith('max-age=15724800') ||
      String(fields['set-cookie']).includes('INGRESSCOOKIE'),
  ],
  ['nginx', (fields) => /^(?:nginx|openresty)\b/i.test(String(fields['server']))],
  ['Cloudflare', (fields) => fields['cf-ray'] !== undefined || fields['server'] === 'cloudflare'],
  ['Varnish', (fields) => fields['x-varnish'] !== undefined || /\(Varnish\b/.test(fields.via ?? '')],
  ['CloudFront', (fields) => fields['x-amz-cf-id'] !== undefined || /cloudfront/i.test(fields.via ?? '')],
  ['Fastly', (fields) => String(fields['x-served-by']).startsWith('cache-')],
  ['Caddy', (fields) => /caddy/i.test(`${String(fields['server'])} ${fields.via}`)],
]

/** Returns the proxies that the headers show. ingress-nginx is not also reported as nginx. */
export function detectProxies(fields: IncomingHttpHeaders): Proxy[] {
  const seen = signs.flatMap(([proxy, shows]) => (shows(fields) ? proxy : []))
  return seen.includes('ingress-nginx') ? seen.filter((proxy) => proxy !== 'nginx') : seen
}
