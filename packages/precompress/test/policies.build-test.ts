import { createContentSecurityPolicy, type PagePolicy } from '@serve-dist/manifest'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { decodePage } from '../src/links/decode-page.ts'
import { elementsOfPage } from '../src/links/elements-of-page.ts'
import { mayNeedPolicy } from '../src/policies/may-need-policy.ts'
import { policyOfElements } from '../src/policies/policy-of-elements.ts'
import { type Chromium, chromiumPath, startChromium } from './support/ask-chromium.ts'

type Counts = readonly [scripts: number, styles: number, styleAttributes: number, scriptAttributes: number]

const kinds = ['scripts', 'styles', 'styleAttributes', 'scriptAttributes'] as const

/** Pages, and the number of hashes of each kind that they need. */
const cases: readonly (readonly [html: string, counts: Counts])[] = [
  ['<script>console.log("ran 1")</script><script>console.log("ran 2")</script>', [2, 0, 0, 0]],
  ['<script>console.log("ran 1")</script><script>console.log("ran 1")</script>', [1, 0, 0, 0]],
  [
    '<script type=module>console.log("ran 1")</script><script async>console.log("ran 2")</script>',
    [2, 0, 0, 0],
  ],
  ['<script type=importmap>{"imports":{"a":"/a.js"}}</script>', [1, 0, 0, 0]],
  ['<script type=speculationrules>{"prefetch":[{"urls":["/a"]}]}</script>', [1, 0, 0, 0]],
  ['<script></script><script type=module></script><script> </script>', [1, 0, 0, 0]],
  ['<script type="application/json">{}</script><script type="application/ld+json">{}</script>', [0, 0, 0, 0]],
  ['<script type="text/template"><style>a{}</style></script>', [0, 0, 0, 0]],
  ['<script nomodule>1</script><script nomodule type=module>console.log("ran 1")</script>', [1, 0, 0, 0]],
  ['<script src>1</script><script type=module src="">2</script>', [0, 0, 0, 0]],
  [
    '<script type="">console.log("ran 1")</script><script type=" text/JavaScript ">console.log("ran 2")</script>',
    [2, 0, 0, 0],
  ],
  [
    '<script type="text/javascript; charset=utf-8">1</script><script type=text/babel>2</script>',
    [0, 0, 0, 0],
  ],
  [
    '<script type=text/livescript>console.log("ran 1")</script><script type=text/javascript1.6>2</script>',
    [1, 0, 0, 0],
  ],
  [
    '<script language=JavaScript1.2>console.log("ran 1")</script><script language=vbscript>2</script>',
    [1, 0, 0, 0],
  ],
  [
    '<script language="">console.log("ran 1")</script><script type="" language=vb>console.log("ran 2")</script>',
    [2, 0, 0, 0],
  ],
  [
    '<script for=window event=onload>console.log("ran 1")</script><script for=x event=y>2</script>',
    [2, 0, 0, 0],
  ],
  ['<script>console.log("ran\r\n1\r2\n3")</script>', [1, 0, 0, 0]],
  ['<script>console.log("ran \0 &lt; ü 😀")</script>', [1, 0, 0, 0]],
  ['<script><!-- <script>console.log("ran 1")</script> --></script>', [1, 0, 0, 0]],
  ['<style>a{}</style><style media=print>b{}</style><style></style>', [0, 3, 0, 0]],
  ['<style type=TEXT/CSS>a{}</style><style type="text/plain">b{}</style>', [0, 2, 0, 0]],
  ['<style>a\0{}\r\nb{}</style>', [0, 1, 0, 0]],
  ['<p style="color:red;\r\n&#13;top:0"><p style><p style="&quot;&notit;">', [0, 0, 3, 0]],
  ['<p style=color:red style=color:blue>', [0, 0, 1, 0]],
  ['<html style=a:b><body style=c:d><body style=e:f>', [0, 0, 2, 0]],
  ['<p onclick="console.log(\'ran 1\')" ONCOPY=2><body onload="console.log(\'ran 3\')">', [0, 0, 0, 3]],
  ['<svg onload="console.log(\'ran 1\')"></svg><img src=x onerror="console.log(\'ran 2\')">', [0, 0, 0, 2]],
  ['<p once=1 only=2 onto=3>', [0, 0, 0, 0]],
  ['<noscript><style>a{}</style><p style=a:b onclick=1></noscript>', [0, 0, 0, 0]],
  [
    '<template><script>1</script><style>a{}</style><iframe srcdoc="<style>b{}</style>"></iframe></template>',
    [0, 0, 0, 0],
  ],
  ['<template><p style=color:red><template><p style=color:blue></template></template>', [0, 0, 2, 0]],
  [
    '<div><template shadowrootmode=open><style>a{}</style><script>console.log("ran 1")</script><p style=top:0></template></div>',
    [1, 1, 1, 0],
  ],
  [
    '<div><template shadowrootmode=CLOSED><style>a{}</style></template><template shadowrootmode=open><style>b{}</style></template></div>',
    [0, 1, 0, 0],
  ],
  [
    '<x-y><template shadowrootmode=open><p><template shadowrootmode=open><style>a{}</style></template></p></template></x-y>',
    [0, 1, 0, 0],
  ],
  [
    '<ul><template shadowrootmode=open><style>a{}</style></template></ul><font-face><template shadowrootmode=open><style>b{}</style></template></font-face>',
    [0, 0, 0, 0],
  ],
  [
    '<template><div><template shadowrootmode=open><style>a{}</style></template></div></template>',
    [0, 0, 0, 0],
  ],
  ['<b><p><template shadowrootmode=open><style>a{}</style></template></b>', [0, 1, 0, 0]],
  ['<svg><script>console.log("ran 1")</script><style>a{}</style><g style=fill:red /></svg>', [1, 1, 1, 0]],
  [
    '<svg><script href=/a.js>1</script><script xlink:href=/a.js>2</script><script src=/a.js>console.log("ran 3")</script></svg>',
    [1, 0, 0, 0],
  ],
  [
    '<svg><script nomodule language=vb>console.log("ran 1")</script><script type=text/plain>2</script></svg>',
    [1, 0, 0, 0],
  ],
  [
    '<svg><script>console.<!-- -->log(<![CDATA["ran 1"]]>)</script><style>a{}<g>b{}</g></style></svg>',
    [1, 1, 0, 0],
  ],
  [
    '<svg><template><style>a{}</style></template><foreignObject><style>b{}</style></foreignObject></svg>',
    [0, 2, 0, 0],
  ],
  ['<math><mi style=color:red>x</mi><style>a{}</style><script>1</script></math>', [0, 0, 1, 0]],
  [
    '<iframe srcdoc="<script>console.log(\'ran 1\')</script><style>a{}</style><p style=color:red>"></iframe>',
    [1, 1, 1, 0],
  ],
  [
    '<iframe srcdoc="<iframe srcdoc=\'<script>console.log(&amp;quot;ran 1&amp;quot;)</script>\'></iframe>"></iframe>',
    [1, 0, 0, 0],
  ],
  [
    '<iframe sandbox srcdoc="<script>1</script><p onclick=2><noscript><style>a{}</style></noscript>"></iframe>',
    [0, 1, 0, 0],
  ],
  ['<iframe sandbox=allow-scripts srcdoc="<script>console.log(\'ran 1\')</script>"></iframe>', [1, 0, 0, 0]],
  [
    '<select><div style=color:red>x</div><style>a{}</style><option style=color:blue>"<select>"</select>',
    [0, 1, 2, 0],
  ],
  ['\uE000<select><p style=top:0></select><p style="--a:&#xE000">', [0, 0, 2, 0]],
  ['<script>console.log("ran <select>")</script><select><p style="--a:<select >"></select>', [1, 0, 1, 0]],
  ['<table><style>a{}</style><script>console.log("ran 1")</script><tr style=color:red>', [1, 1, 1, 0]],
  [
    '<textarea><style>a{}</style></textarea><title><style>b{}</style></title><noembed><style>c{}</style></noembed>',
    [0, 0, 0, 0],
  ],
  [
    '<script src=/a.js style=top:0></script><link style=top:1><template style=top:2></template>',
    [0, 0, 3, 0],
  ],
  ['<meta charset=iso-8859-1><script>console.log("ran ü")</script>', [1, 0, 0, 0]],
]

function policyOf(text: string): PagePolicy | undefined {
  return mayNeedPolicy(Buffer.from(text)) ? policyOfElements(elementsOfPage(text)) : undefined
}

function fieldsFor(page: PagePolicy | undefined): Record<string, string> {
  const csp = createContentSecurityPolicy({
    rules: [{ attributes: true, 'script-src': ["'report-sample'"], 'style-src': ["'report-sample'"] }],
    originOf: () => undefined,
  })
  return { 'Content-Security-Policy': csp(page) }
}

/** A policy for which browsers report missing hashes, except of event handlers. */
const reporting = {
  'Content-Security-Policy-Report-Only':
    "script-src 'self' 'report-sample'; style-src 'self' 'report-sample'",
}

describe.skipIf(chromiumPath === undefined)('policyOfElements in Chromium', () => {
  let chromium: Chromium

  beforeAll(async () => {
    chromium = await startChromium()
  })

  afterAll(async () => await chromium?.close())

  test.each(cases)('returns the hashes that Chromium needs for %j', async (html, counts) => {
    const body = `<!doctype html><title>a page</title>${html}`
    const policy = policyOf(body)
    expect(kinds.map((kind) => policy?.[kind]?.length ?? 0)).toEqual(counts)

    const free = await chromium.open(body)
    const guarded = await chromium.open(body, fieldsFor(policy))
    expect(guarded).toEqual({ ...free, hashes: [], violations: [] })

    for (const kind of kinds) {
      for (const hash of policy?.[kind] ?? []) {
        const hashes = policy?.[kind]?.filter((other) => other !== hash) ?? []
        const fields = fieldsFor({ ...policy, [kind]: hashes })
        // The report of a sandboxed frame comes from another process, and may arrive after the page has loaded.
        await vi.waitFor(async () => {
          const { violations, hashes: missing } = await chromium.open(body, fields)
          // Chromium reports no hash of an event handler, and no violation of a frame without scripts.
          const isHandler = kind === 'scriptAttributes'
          expect(isHandler ? violations.length : missing).toEqual(isHandler ? 1 : [hash])
        })
      }
    }
  })

  test.each([
    ['UTF-8', Buffer.from('\uFEFF<script>console.log("ran ü")</script>')],
    ['UTF-16, little-endian', Buffer.from('\uFEFF<script>console.log("ran ü")</script>', 'utf16le')],
    ['UTF-16, big-endian', Buffer.from('\uFEFF<script>console.log("ran ü")</script>', 'utf16le').swap16()],
  ])('applies a byte order mark: %s', async (_, body) => {
    const policy = policyOf(decodePage(body))
    expect(await chromium.open(body, fieldsFor(policy))).toMatchObject({ ran: ['ran ü'], violations: [] })
    expect((await chromium.open(body, reporting)).hashes).toEqual(policy?.scripts)
  })

  test('decodes invalid bytes like Chromium', async () => {
    const body = Buffer.concat([
      Buffer.from('<meta charset=windows-1252><script>console.log("ran '),
      Buffer.from([0xfc, 0xe2, 0x82]),
      Buffer.from('")</script>'),
    ])
    const policy = policyOf(decodePage(body))
    expect(await chromium.open(body, fieldsFor(policy))).toMatchObject({ violations: [] })
    expect((await chromium.open(body, reporting)).hashes).toEqual(policy?.scripts)
  })

  test('returns all hashes that Chromium requires for generated pages', async () => {
    await fc.assert(
      fc.asyncProperty(page, async (html) => {
        const body = `<!doctype html><title>a page</title>${html}`
        const policy = policyOf(body)
        const { hashes } = await chromium.open(body, reporting)
        const named = [policy?.scripts, policy?.styles, policy?.styleAttributes].flatMap((some) => some ?? [])
        expect(named).toEqual(expect.arrayContaining([...hashes]))
        expect(await chromium.open(body, fieldsFor(policy))).toMatchObject({ violations: [], hashes: [] })
      }),
      { numRuns: Number(process.env['SERVE_DIST_PAGES'] ?? 20) },
    )
  }, 300_000)
})

const text = fc.oneof(
  fc.constantFrom('1', ' ', '', 'a{}', '\r\n2', 'ü', '"&lt;"', '\0', '<!--', '-->', ']]>', '<select>'),
  fc.string({ maxLength: 8 }).map((some) => some.replaceAll(/[<>]/g, '')),
)
const attribute = fc
  .tuple(
    fc.constantFrom('style', 'onclick', 'type', 'nomodule', 'language', 'shadowrootmode', 'media'),
    fc.oneof(
      fc.constantFrom('module', 'text/javascript', 'importmap', 'open', 'closed', 'color:red', ''),
      text,
    ),
  )
  .map(([name, value]) => ` ${name}="${value.replaceAll('"', '&quot;')}"`)
const fileAttribute = fc.constantFrom(' src', ' src=/a.js', ' href=/a.js', ' xlink:href=/a.js')
const attributes = fc
  .array(fc.oneof({ weight: 4, arbitrary: attribute }, fileAttribute), { maxLength: 2 })
  .map((some) => some.join(''))
const tag = fc.constantFrom(
  ...'div p svg math g template select option table tr td foreignObject x-y section noscript a b title'.split(
    ' ',
  ),
)
const raw = fc
  .tuple(fc.constantFrom('script', 'style'), attributes, text)
  .map(([name, some, content]) => `<${name}${some}>${content}</${name}>`)

/** Generates nested, closed elements, and some unmatched tags. */
const { page } = fc.letrec<{ page: string; element: string }>((tie) => ({
  element: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    raw,
    fc
      .tuple(tag, attributes, tie('page'))
      .map(([name, some, content]) => `<${name}${some}>${content}</${name}>`),
    fc
      .tuple(fc.constantFrom('', ' sandbox', ' sandbox=allow-scripts'), tie('page'))
      .map(
        ([sandbox, content]) =>
          `<iframe${sandbox} srcdoc="${content.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`,
      ),
    fc
      .tuple(fc.constantFrom('<', '</'), tag, attributes)
      .map(([open, name, some]) => `${open}${name}${some}>`),
  ),
  page: fc.array(tie('element'), { maxLength: 4 }).map((some) => some.join('')),
}))
