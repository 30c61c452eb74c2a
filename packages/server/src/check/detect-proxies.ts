import type { IncomingHttpHeaders } from 'node:http'

/** What stands in front of a site, where the fields of its answers show it. */
export type Proxy = 'nginx' | 'ingress-nginx' | 'Cloudflare' | 'Varnish' | 'CloudFront' | 'Fastly' | 'Caddy'

/** What each is known by. */
const signs: readonly (readonly [Proxy, (fields: IncomingHttpHeaders) => boolean])[] = [
  // The HSTS that the Kubernetes controller sends by default, and its cookie for sticky sessions.
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

/** The proxies whose signs these fields bear; the Kubernetes controller is not named as nginx again. */
export function detectProxies(fields: IncomingHttpHeaders): Proxy[] {
  const seen = signs.flatMap(([proxy, shows]) => (shows(fields) ? proxy : []))
  return seen.includes('ingress-nginx') ? seen.filter((proxy) => proxy !== 'nginx') : seen
}
