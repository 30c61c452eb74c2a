import { expect, test } from 'vitest'
import { detectProxies } from './detect-proxies.ts'

test.each([
  [{ server: 'nginx/1.22.1' }, ['nginx']],
  [{ server: 'openresty' }, ['nginx']],
  [
    { server: 'nginx', 'strict-transport-security': 'max-age=15724800; includeSubDomains' },
    ['ingress-nginx'],
  ],
  [{ 'set-cookie': ['INGRESSCOOKIE=1'] }, ['ingress-nginx']],
  [{ server: 'cloudflare', 'cf-ray': '8a' }, ['Cloudflare']],
  [{ via: '1.1 varnish (Varnish/7.1)', 'x-varnish': '5 3' }, ['Varnish']],
  [{ via: '1.1 a.cloudfront.net (CloudFront)' }, ['CloudFront']],
  [{ 'x-served-by': 'cache-fra-1', via: '1.1 varnish' }, ['Fastly']],
  [{ server: 'Caddy' }, ['Caddy']],
  [{ server: 'Apache' }, []],
])('detectProxies of %j is %j', (fields, proxies) => {
  expect(detectProxies(fields)).toEqual(proxies)
})
