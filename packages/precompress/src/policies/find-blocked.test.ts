import { createContentSecurityPolicy, type PolicyRules } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { elementsOfPage } from '../links/elements-of-page.ts'
import { findBlocked } from './find-blocked.ts'

function blockedIn(html: string, rules: PolicyRules = {}): string[] {
  const policy = createContentSecurityPolicy({ rules: [rules], originOf: () => undefined })()
  return findBlocked(elementsOfPage(html, { lines: true }), policy).map(
    ({ what, directive, line }) => `${line}: ${what} ${directive}`,
  )
}

describe('findBlocked', () => {
  test.each<readonly [string, readonly string[]]>([
    ['<script src=https://a.example/b.js></script>', ['1: https://a.example script-src']],
    ['\n<link rel=stylesheet href=//a.example/b.css>', ['2: https://a.example style-src']],
    ['<img src=a.png srcset="https://a.example/b 1x, data:, 2x">', ['1: https://a.example img-src']],
    ['<iframe src=https://a.example></iframe>', ['1: https://a.example default-src']],
    ['<iframe src=https://a.example srcdoc=""></iframe><iframe src=about:blank></iframe>', []],
    ['<form action=https://a.example><button formaction=/b>', ['1: https://a.example form-action']],
    ['<video src=data:video/mp4, poster=/a.png>', ['1: data: default-src']],
    [
      '<base href=https://a.example><img src=b.png>',
      ['1: https://a.example base-uri', '1: https://a.example img-src'],
    ],
    [
      '<link rel=preload as=font href=https://a.example/b><link rel=icon href=data:,>',
      ['1: https://a.example font-src'],
    ],
    ['<link rel=preconnect href=https://a.example><link rel=prefetch href=https://a.example>', []],
    ['<object data=/a.pdf></object><embed src=/b.pdf>', ['1: /a.pdf object-src', '1: /b.pdf object-src']],
    ['<p onclick=1 once=2><svg onload=3>', ['1: onclick script-src', '1: onload script-src']],
    ['<a href="java\nscript:1">', ['1: javascript: script-src']],
    [
      '<svg><a href="javascript:1" /><a xlink:href="javascript:2" /></svg>',
      ['1: javascript: script-src', '1: javascript: script-src'],
    ],
    ['<p style="background:url(https://a.example/b.png)">', ['1: https://a.example img-src']],
    [
      '<script type=importmap>{"imports":{"a":"https://a.example/b.js","c":"/c.js"}}</script>',
      ['1: https://a.example script-src'],
    ],
    ['<script type=importmap>{</script><link rel=preload as=constructor href=https://a.example>', []],
    ['<link rel=preload as=fetch href=https://a.example>', ['1: https://a.example default-src']],
    [
      '<base href=https://a.example>\n<iframe srcdoc="\n<img src=b.png><p onclick=1><script src=//b.example>"></iframe>',
      [
        '1: https://a.example base-uri',
        '2: https://a.example img-src',
        '2: onclick script-src',
        '2: https://b.example script-src',
      ],
    ],
    ['<iframe sandbox srcdoc="<p onclick=1><a href=javascript:1><script src=//b.example>"></iframe>', []],
    ['<a href=https://a.example><template><img src=https://a.example></template>', []],
    [
      '<svg><image href=https://a.example/b /><script xlink:href=https://b.example /></svg>',
      ['1: https://a.example img-src', '1: https://b.example script-src'],
    ],
    [
      '<style>@import url(https://a.example/b.css);@font-face{src:url("https://b.example")}a{b:url(https://c.example)}</style>',
      ['1: https://a.example style-src', '1: https://b.example font-src', '1: https://c.example img-src'],
    ],
  ])('returns the blocked items of %j', (html, expected) => {
    expect(blockedIn(html)).toEqual(expected)
  })

  test.each<readonly [PolicyRules, string]>([
    [{ 'script-src': ['https://a.example'] }, '<script src=https://a.example/b.js></script>'],
    [{ 'script-src': ['https://a.example/lib/'] }, '<script src=https://a.example/lib/b.js></script>'],
    [{ 'img-src': ['*.example'] }, '<img src=https://a.b.example:443>'],
    [{ 'img-src': ['https:'] }, '<img src=https://a.example>'],
    [{ 'img-src': ['http://a.example:8080'] }, '<img src=http://a.example:8080>'],
    [{ 'frame-src': ['*'] }, '<iframe src=https://a.example></iframe>'],
    [{ 'child-src': ['a.example'] }, '<iframe src=https://a.example></iframe>'],
    [{ 'object-src': null, 'default-src': null }, '<embed src=https://a.example>'],
    [{ 'img-src': ['https://A.example'] }, '<img src=https://a.example>'],
    [{ 'img-src': ['http://a.example:80'] }, '<img src=https://a.example>'],
    [{ 'script-src-elem': ["'unsafe-inline'"] }, '<a href=javascript:1>'],
    [{ 'script-src': ["'unsafe-inline'"] }, '<a href=javascript:1 onclick=2>'],
  ])('allows the sources of %j', (rules, html) => {
    expect(blockedIn(html, rules)).toEqual([])
  })

  test.each<readonly [PolicyRules, string]>([
    [{ 'script-src': ['https://a.example/lib/'] }, '<script src=https://a.example/other.js></script>'],
    [{ 'img-src': ['https://a.example'] }, '<img src=http://a.example>'],
    [{ 'img-src': ['*.example.org'] }, '<img src=https://example.org>'],
    [{ 'img-src': ['https://a.example'] }, '<img src=https://a.example:8443>'],
    [{ 'img-src': ['https://a.example:443'] }, '<img src=https://a.example:8443>'],
  ])('blocks other sources than those of %j', (rules, html) => {
    expect(blockedIn(html, rules)).toHaveLength(1)
  })
})
