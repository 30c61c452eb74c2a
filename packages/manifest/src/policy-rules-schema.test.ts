import { describe, expect, test } from 'vitest'
import { checkServingRules } from './check-serving-rules.ts'

function problemsOf(csp: unknown, more: object = {}): readonly string[] {
  try {
    checkServingRules({ csp, ...more }, '')
    return []
  } catch (error) {
    return error instanceof Error ? error.message.split('\n') : [String(error)]
  }
}

const hash = `'sha256-${'a'.repeat(43)}='`

describe('checkServingRules of csp', () => {
  test.each<[string, unknown]>([
    ['a switch', true],
    ['its opposite', false],
    ['an empty object', {}],
    ['switches', { attributes: true, reportOnly: true }],
    ['null', { 'img-src': null }],
    ['places', { 'img-src': ["'self'", 'data:', 'https:', '*', '*.example.org', 'example.org:*'] }],
    ['whole addresses', { 'connect-src': ['wss://a.example:8443/b/c.d', 'localhost:3000', { env: 'API' }] }],
    ['code', { 'script-src': ["'wasm-unsafe-eval'", "'report-sample'", hash] }],
    ['code in styles', { 'style-src-attr': ["'unsafe-inline'"] }],
    ['none', { 'object-src': ["'none'"] }],
    ['separate sources of workers', { 'child-src': ['https://a.example'], 'worker-src': ["'self'"] }],
    ['directives without sources', { sandbox: [], 'upgrade-insecure-requests': [] }],
    ['permissions', { sandbox: ['allow-scripts', 'allow-same-origin'] }],
    ['reports', { 'report-to': ['csp-endpoint'], 'report-uri': ['/csp', 'https://r.example/x?y=1'] }],
    [
      'trusted types',
      { 'require-trusted-types-for': ["'script'"], 'trusted-types': ['lit-html', "'allow-duplicates'"] },
    ],
  ])('accepts %s', (_what, csp) => {
    expect(problemsOf(csp)).toEqual([])
  })

  test.each<[unknown, string]>([
    ['yes', 'csp: expected true, false, or an object of directives, found "yes"'],
    [{ connectSrc: [] }, 'csp.connectSrc: unknown directive. Did you mean "connect-src"?'],
    [{ 'script-scr': [] }, 'csp["script-scr"]: unknown directive. Did you mean "script-src"?'],
    [{ 'img-src': 'data:' }, 'csp["img-src"]: expected a list, found a string. Write ["data:"].'],
    [
      { 'img-src': [] },
      'csp["img-src"]: expected sources. Write ["\'none\'"] to allow nothing, or null to remove the directive.',
    ],
    [{ 'img-src': [1] }, 'csp["img-src"][0]: expected a text, found 1'],
    [{ 'img-src': [{}] }, 'csp["img-src"][0].env: expected the name of a value of "env", found nothing'],
    [{ 'img-src': [{ env: 'A', path: '/b' }] }, 'csp["img-src"][0].path: unknown key. Valid keys: env.'],
    [
      { 'img-src': ['${IMAGE_URL}'] },
      'csp["img-src"][0]: a source cannot contain variables. Write { env: "NAME" } for the origin of an environment value.',
    ],
    [
      { 'script-src': [`'SHA256-${'a'.repeat(43)}='`] },
      `csp["script-src"][0]: write 'sha256-…' in lower case`,
    ],
    [{ 'img-src': ['self'] }, `csp["img-src"][0]: a keyword needs single quotes: "'self'"`],
    [{ 'img-src': ['none'] }, `csp["img-src"][0]: a keyword needs single quotes: "'none'"`],
    [
      { 'style-src': ['unsafe-inline'] },
      `csp["style-src"][0]: a keyword needs single quotes: "'unsafe-inline'"`,
    ],
    [{ 'img-src': ["'Self'"] }, `csp["img-src"][0]: write 'self' in lower case`],
    [{ 'img-src': ["'slef'"] }, `csp["img-src"][0]: unknown keyword 'slef'. Did you mean 'self'?`],
    [{ 'img-src': ["'unsafe-inline'"] }, `csp["img-src"][0]: 'unsafe-inline' has no effect in img-src`],
    [{ 'style-src': ["'unsafe-eval'"] }, `csp["style-src"][0]: 'unsafe-eval' has no effect in style-src`],
    [{ 'img-src': [hash] }, 'csp["img-src"][0]: a hash has no effect in img-src'],
    [
      { 'script-src': ["'sha256-abc='"] },
      'csp["script-src"][0]: expected the whole hash: 43 characters of base64 and "="',
    ],
    [{ 'script-src': [hash.slice(1, -1)] }, `csp["script-src"][0]: a keyword needs single quotes: "${hash}"`],
    [
      { 'script-src': ["'nonce-abc'"] },
      'csp["script-src"][0]: nonces need a new page for each request. Remove it: serve-dist adds hashes for the inline scripts and styles of the build.',
    ],
    [
      { 'script-src': ["'strict-dynamic'"] },
      `csp["script-src"][0]: with 'strict-dynamic', browsers ignore 'self' and load no script file of the build. List the origins of other scripts instead.`,
    ],
    [
      { 'img-src': ['https://a.example; script-src *'] },
      'csp["img-src"][0]: a source cannot contain ";", "," or spaces. Add each source to the list separately, and write "%3B" and "%2C" in paths.',
    ],
    [
      { 'img-src': ['https://a.example,https://b.example'] },
      'csp["img-src"][0]: a source cannot contain ";", "," or spaces. Add each source to the list separately, and write "%3B" and "%2C" in paths.',
    ],
    [
      { 'img-src': ['https://bücher.example'] },
      'csp["img-src"][0]: a source must be ASCII. Write hosts in Punycode (new URL(…).host) and percent-encode paths.',
    ],
    [{ 'img-src': ['data'] }, 'csp["img-src"][0]: browsers treat data as a host. Write "data:".'],
    [
      { 'img-src': ['//a.example'] },
      'csp["img-src"][0]: add the scheme, as in "https://a.example", or write only the host',
    ],
    [{ 'img-src': ['/images'] }, 'csp["img-src"][0]: a path is not a source. Write "\'self\'".'],
    [
      { 'img-src': ['https://a.example/?b'] },
      'csp["img-src"][0]: a source cannot have a query or a fragment. Remove them.',
    ],
    [
      { 'img-src': ['https://*a.example'] },
      'csp["img-src"][0]: a star can only replace the first labels of a host, as in "https://*.example.org", or a port',
    ],
    [
      { 'img-src': ['http://[::1]:80'] },
      'csp["img-src"][0]: browsers do not match IPv6 addresses. Write a host name.',
    ],
    [
      { 'img-src': ['https://a_b.example'] },
      'csp["img-src"][0]: browsers ignore a host with "_" in its name',
    ],
    [
      { 'img-src': ['https:/a.example'] },
      'csp["img-src"][0]: expected a source such as "\'self\'", "https://cdn.example.org", "*.example.org" or "data:"',
    ],
    [
      { 'img-src': ["'none'", 'data:'] },
      `csp["img-src"]: 'none' must be the only source. Remove it or the other sources.`,
    ],
    [
      { 'style-src': ["'unsafe-inline'", hash] },
      `csp["style-src"]: 'unsafe-inline' has no effect next to a hash. Remove one of them.`,
    ],
    [
      { 'child-src': ['https://a.example'] },
      'csp["child-src"]: this directive applies to workers and would block those of the build. Use frame-src, or add worker-src.',
    ],
    [
      { 'upgrade-insecure-requests': ["'self'"] },
      'csp["upgrade-insecure-requests"][0]: upgrade-insecure-requests has no sources. Write [].',
    ],
    [
      { sandbox: ['allow-script'] },
      'csp.sandbox[0]: unknown keyword allow-script. Did you mean allow-scripts?',
    ],
    [{ 'report-to': [] }, 'csp["report-to"]: expected one endpoint'],
    [
      { 'report-to': ['https://r.example'] },
      'csp["report-to"][0]: expected the name of an endpoint, as in the field Reporting-Endpoints',
    ],
    [{ 'report-uri': ['csp'] }, 'csp["report-uri"][0]: expected a URL, or a path that starts with "/"'],
    [
      { 'require-trusted-types-for': ['script'] },
      `csp["require-trusted-types-for"][0]: require-trusted-types-for accepts only "'script'"`,
    ],
    [
      { 'trusted-types': ["'x'"] },
      `csp["trusted-types"][0]: expected the name of a policy, "*", "'none'" or "'allow-duplicates'"`,
    ],
    [{ reportOnly: 1 }, 'csp.reportOnly: expected true or false, found 1'],
  ])('describes the problem of %j', (csp, problem) => {
    expect(problemsOf(csp)).toEqual([problem])
  })

  test('lists all problems, and rejects a rule that sets the same field', () => {
    const headers = {
      '**': { 'content-security-policy': 'x' },
      '*.html': { 'Content-Security-Policy': null },
    }
    expect(problemsOf({ 'img-src': ['self', 'data'] }, { headers })).toHaveLength(3)
    expect(problemsOf(true, { headers })).toEqual([
      'headers["**"]["content-security-policy"]: the rule csp sets this field. Move the directives into csp, or set csp: false.',
    ])
    expect(problemsOf({ reportOnly: true }, { headers })).toEqual([])
  })
})
