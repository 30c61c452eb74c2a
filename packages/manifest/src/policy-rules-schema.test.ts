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
    ['nothing at all', {}],
    ['switches', { attributes: true, reportOnly: true }],
    ['null', { 'img-src': null }],
    ['places', { 'img-src': ["'self'", 'data:', 'https:', '*', '*.example.org', 'example.org:*'] }],
    ['whole addresses', { 'connect-src': ['wss://a.example:8443/b/c.d', 'localhost:3000', { env: 'API' }] }],
    ['code', { 'script-src': ["'wasm-unsafe-eval'", "'report-sample'", hash] }],
    ['code in styles', { 'style-src-attr': ["'unsafe-inline'"] }],
    ['none', { 'object-src': ["'none'"] }],
    ['workers apart', { 'child-src': ['https://a.example'], 'worker-src': ["'self'"] }],
    ['directives without sources', { sandbox: [], 'upgrade-insecure-requests': [] }],
    ['permissions', { sandbox: ['allow-scripts', 'allow-same-origin'] }],
    ['reports', { 'report-to': ['csp-endpoint'], 'report-uri': ['/csp', 'https://r.example/x?y=1'] }],
    [
      'trusted types',
      { 'require-trusted-types-for': ["'script'"], 'trusted-types': ['lit-html', "'allow-duplicates'"] },
    ],
  ])('takes %s', (_what, csp) => {
    expect(problemsOf(csp)).toEqual([])
  })

  test.each<[unknown, string]>([
    ['yes', 'csp: expected true, false, or an object of directives, found "yes"'],
    [{ connectSrc: [] }, 'csp.connectSrc: there is no such directive; did you mean "connect-src"?'],
    [{ 'script-scr': [] }, 'csp["script-scr"]: there is no such directive; did you mean "script-src"?'],
    [{ 'img-src': 'data:' }, 'csp["img-src"]: expected a list, found a string; write ["data:"]'],
    [
      { 'img-src': [] },
      'csp["img-src"]: expected sources; write ["\'none\'"] to allow nothing, null to leave the directive out',
    ],
    [{ 'img-src': [1] }, 'csp["img-src"][0]: expected a text, found 1'],
    [{ 'img-src': [{}] }, 'csp["img-src"][0].env: expected the name of a value of "env", found nothing'],
    [
      { 'img-src': [{ env: 'A', path: '/b' }] },
      'csp["img-src"][0].path: there is no such key; the keys are env',
    ],
    [
      { 'img-src': ['${IMAGE_URL}'] },
      'csp["img-src"][0]: nothing stands for a variable in a text; write { env: "NAME" } for the origin of a value of the environment',
    ],
    [
      { 'script-src': [`'SHA256-${'a'.repeat(43)}='`] },
      `csp["script-src"][0]: write 'sha256-…', in lower case`,
    ],
    [{ 'img-src': ['self'] }, `csp["img-src"][0]: a keyword stands in single quotes: "'self'"`],
    [{ 'img-src': ['none'] }, `csp["img-src"][0]: a keyword stands in single quotes: "'none'"`],
    [
      { 'style-src': ['unsafe-inline'] },
      `csp["style-src"][0]: a keyword stands in single quotes: "'unsafe-inline'"`,
    ],
    [{ 'img-src': ["'Self'"] }, `csp["img-src"][0]: write 'self', in lower case`],
    [{ 'img-src': ["'slef'"] }, `csp["img-src"][0]: there is no 'slef'; did you mean 'self'?`],
    [{ 'img-src': ["'unsafe-inline'"] }, `csp["img-src"][0]: 'unsafe-inline' has no effect in img-src`],
    [{ 'style-src': ["'unsafe-eval'"] }, `csp["style-src"][0]: 'unsafe-eval' has no effect in style-src`],
    [{ 'img-src': [hash] }, 'csp["img-src"][0]: a hash has no effect in img-src'],
    [
      { 'script-src': ["'sha256-abc='"] },
      'csp["script-src"][0]: expected the whole hash: 43 characters of base64 and "="',
    ],
    [
      { 'script-src': [hash.slice(1, -1)] },
      `csp["script-src"][0]: a keyword stands in single quotes: "${hash}"`,
    ],
    [
      { 'script-src': ["'nonce-abc'"] },
      'csp["script-src"][0]: a nonce needs pages that are written anew for each request; inline scripts and styles of the build have their hashes',
    ],
    [
      { 'script-src': ["'strict-dynamic'"] },
      `csp["script-src"][0]: beside it browsers ignore 'self', so that they load no script file of the build; name the origins of further scripts instead`,
    ],
    [
      { 'img-src': ['https://a.example; script-src *'] },
      'csp["img-src"][0]: a source has no ";", "," or spaces: give each source of its own in the list, "%3B" and "%2C" in paths',
    ],
    [
      { 'img-src': ['https://a.example,https://b.example'] },
      'csp["img-src"][0]: a source has no ";", "," or spaces: give each source of its own in the list, "%3B" and "%2C" in paths',
    ],
    [
      { 'img-src': ['https://bücher.example'] },
      'csp["img-src"][0]: a source is ASCII: write hosts in Punycode (new URL(…).host), paths percent-encoded',
    ],
    [{ 'img-src': ['data'] }, 'csp["img-src"][0]: browsers take data for a host; write "data:"'],
    [
      { 'img-src': ['//a.example'] },
      'csp["img-src"][0]: write the scheme too, such as "https://a.example", or the host alone',
    ],
    [{ 'img-src': ['/images'] }, 'csp["img-src"][0]: a path alone is no source; write "\'self\'"'],
    [
      { 'img-src': ['https://a.example/?b'] },
      'csp["img-src"][0]: a source has no query and no fragment; leave them out',
    ],
    [
      { 'img-src': ['https://*a.example'] },
      'csp["img-src"][0]: a star stands for the first names of a host, as in "https://*.example.org", or for a port',
    ],
    [
      { 'img-src': ['http://[::1]:80'] },
      'csp["img-src"][0]: browsers match no IPv6 addresses here; write a name',
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
      `csp["img-src"]: 'none' counts alone; leave out it or the other sources`,
    ],
    [
      { 'style-src': ["'unsafe-inline'", hash] },
      `csp["style-src"]: 'unsafe-inline' has no effect beside a hash; leave out one of them`,
    ],
    [
      { 'child-src': ['https://a.example'] },
      'csp["child-src"]: it counts for workers too, and would block those of the build; write frame-src, or worker-src beside it',
    ],
    [
      { 'upgrade-insecure-requests': ["'self'"] },
      'csp["upgrade-insecure-requests"][0]: upgrade-insecure-requests takes no sources; write []',
    ],
    [{ sandbox: ['allow-script'] }, 'csp.sandbox[0]: there is no allow-script; did you mean allow-scripts?'],
    [{ 'report-to': [] }, 'csp["report-to"]: expected one endpoint'],
    [
      { 'report-to': ['https://r.example'] },
      'csp["report-to"][0]: expected the name of an endpoint, as Reporting-Endpoints has it',
    ],
    [{ 'report-uri': ['csp'] }, 'csp["report-uri"][0]: expected a URL, or a path that begins with "/"'],
    [
      { 'require-trusted-types-for': ['script'] },
      `csp["require-trusted-types-for"][0]: require-trusted-types-for takes "'script'" alone`,
    ],
    [
      { 'trusted-types': ["'x'"] },
      `csp["trusted-types"][0]: expected the name of a policy, "*", "'none'" or "'allow-duplicates'"`,
    ],
    [{ reportOnly: 1 }, 'csp.reportOnly: expected true or false, found 1'],
  ])('tells what is wrong with %j', (csp, problem) => {
    expect(problemsOf(csp)).toEqual([problem])
  })

  test('tells all problems at once, and refuses a rule for the field beside it', () => {
    const headers = {
      '**': { 'content-security-policy': 'x' },
      '*.html': { 'Content-Security-Policy': null },
    }
    expect(problemsOf({ 'img-src': ['self', 'data'] }, { headers })).toHaveLength(3)
    expect(problemsOf(true, { headers })).toEqual([
      'headers["**"]["content-security-policy"]: the rule csp sends this field; write its directives into csp, or say csp: false',
    ])
    expect(problemsOf({ reportOnly: true }, { headers })).toEqual([])
  })
})
