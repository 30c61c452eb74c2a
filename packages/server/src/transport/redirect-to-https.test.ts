import { describe, expect, test } from 'vitest'
import { redirectToHttps } from './redirect-to-https.ts'

const usual = { plainPort: 80, tlsPort: 443 }

describe('redirectToHttps', () => {
  test.each([
    ['example.org', '/', 'https://example.org/'],
    ['example.org', '/a/b?c=d&e', 'https://example.org/a/b?c=d&e'],
    ['example.org:80', '/', 'https://example.org/'],
    ['EXAMPLE.org.', '/', 'https://EXAMPLE.org./'],
    ['127.0.0.1', '/', 'https://127.0.0.1/'],
    ['[::1]:80', '/', 'https://[::1]/'],
    ['xn--bcher-kva.example', '/', 'https://xn--bcher-kva.example/'],
    // Even an unusual path stays on this host.
    ['example.org', '//evil.example/', 'https://example.org//evil.example/'],
    ['example.org', '/\\evil.example', 'https://example.org/\\evil.example'],
  ])('redirects the host %j and the path %j to %j', (host, target, location) => {
    expect(redirectToHttps(host, target, usual)).toBe(location)
  })

  test.each([
    [undefined, '/'],
    ['', '/'],
    ['example.org/evil', '/'],
    ['example.org@evil.example', '/'],
    ['example.org#', '/'],
    ['example.org?', '/'],
    ['example.org\\', '/'],
    ['example.org:', '/'],
    ['example.org:80:80', '/'],
    ['example.org:x', '/'],
    ['example.org evil.example', '/'],
    ['example.org,evil.example', '/'],
    ['%65vil.example', '/'],
    ['.example', '/'],
    ['[::1', '/'],
    ['example.org', '*'],
    ['example.org', ''],
    ['example.org', 'evil.example:443'],
    ['example.org', 'javascript:alert(1)'],
    ['example.org', 'http://evil.example/'],
    ['example.org', '/a#b'],
  ])('does not redirect the host %j and the path %j', (host, target) => {
    expect(redirectToHttps(host, target, usual)).toBeUndefined()
  })

  test.each([
    ['example.org', { plainPort: 80, tlsPort: 8443 }, 'https://example.org:8443/'],
    ['example.org:8080', { plainPort: 8080, tlsPort: 8443 }, 'https://example.org:8443/'],
    ['example.org:8080', { plainPort: 8080, tlsPort: 443 }, 'https://example.org/'],
    // The client used port 80, so a proxy maps 80 to our 8080, and probably 443 to our 8443.
    ['example.org', { plainPort: 8080, tlsPort: 8443 }, 'https://example.org/'],
  ])('redirects the host %j, with the ports %j, to %j', (host, place, location) => {
    expect(redirectToHttps(host, '/', place)).toBe(location)
  })
})
