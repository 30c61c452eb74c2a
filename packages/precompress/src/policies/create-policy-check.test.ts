import type { PolicyRules } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../../test/support/make-folder.ts'
import { problemsOf } from '../../test/support/problems-of.ts'
import { readFolder } from '../../test/support/read-folder.ts'
import { precompress } from '../compression/precompress.ts'

async function warningsOf(
  files: Record<string, string>,
  csp: boolean | PolicyRules = true,
): Promise<readonly string[]> {
  const { warnings } = await precompress(await makeFolder(files), { serving: { csp }, codings: [] })
  return warnings
}

function scripts(number: number): string {
  return Array.from({ length: number }, (_, index) => `<script>${index}</script>`).join('')
}

describe('createPolicyCheck', () => {
  test('reports blocked content of pages once, with places and the fix', async () => {
    const page = '<!doctype html>\n<img src=https://a.example/b.png>\n<p onclick=1>'
    expect(await warningsOf({ 'a.html': page, 'b.html': page })).toEqual([
      'csp blocks https://a.example (img-src) in a.html:2, b.html:2. Allow it with csp: { \'img-src\': ["https://a.example"] }, or remove it.',
      'csp blocks onclick (script-src) in a.html:3, b.html:3. Add the listener in a script, or set csp: { attributes: true }.',
    ])
    expect(await warningsOf({ 'a.html': page }, { attributes: true, 'img-src': ['*'] })).toEqual([])
    expect(await warningsOf({ 'a.html': page }, false)).toEqual([])
  })

  test('uses the default of an environment variable as its origin', async () => {
    const folder = await makeFolder({ 'env.js': '', 'a.html': '<img src=https://a.example/b.png>' })
    const { warnings } = await precompress(folder, {
      serving: { csp: { 'img-src': [{ env: 'IMAGES' }] } },
      environment: {
        path: 'env.js',
        prefix: '',
        variables: { IMAGES: { type: 'string', default: 'https://a.example/images' } },
      },
    })
    expect(warnings).toEqual([])
  })

  test('warns about a policy in a page', async () => {
    const [warning] = await warningsOf({
      'a.html': '\n<meta http-equiv=content-security-policy content="img-src *">',
    })
    expect(warning).toMatch(
      /^a\.html:2: a <meta http-equiv="Content-Security-Policy"> applies in addition to/,
    )
  })

  test('warns about a policy above 3 KB, and rejects one above 16 KB before it writes', async () => {
    expect(await warningsOf({ 'a.html': scripts(50) })).toEqual([])
    const [warning] = await warningsOf({ 'a.html': scripts(60) })
    expect(warning).toMatch(
      /^a\.html: its Content-Security-Policy has 60 hashes and 3\d{3} bytes\. .*proxy_buffer_size 16k/,
    )

    const folder = await makeFolder({ 'a.html': scripts(300), 'b.html': scripts(10) })
    const before = await readFolder(folder)
    const problems = await problemsOf(precompress(folder, { serving: { csp: true } }))
    expect(problems).toEqual([expect.stringMatching(/^a\.html: its Content-Security-Policy has 300 hashes/)])
    expect(await readFolder(folder)).toEqual(before)
  })

  test('warns about another policy in _headers, which stops the start of a server', async () => {
    const headers = '/*\n  content-security-policy: default-src *\n'
    expect(await warningsOf({ _headers: headers })).toEqual([
      '_headers, Content-Security-Policy: the rule csp sets this field. Move the directives into csp, or set csp: false. Otherwise the server does not start.',
    ])
    expect(await warningsOf({ _headers: headers }, { reportOnly: true })).toEqual([])
    expect(await warningsOf({ _headers: '/*\n  ! Content-Security-Policy\n' })).toEqual([])
  })

  test('summarizes many pages and many problems in a few lines', async () => {
    const images = Array.from({ length: 30 }, (_, index) => `<img src=https://${index}.example>`).join('')
    const page = scripts(60) + images
    const warnings = await warningsOf({ 'a.html': page, 'b.html': page, 'c.html': page, 'd.html': page })
    expect(warnings).toHaveLength(22)
    expect(warnings[0]).toMatch(
      /^a\.html, b\.html, c\.html and 1 more: their Content-Security-Policy has up to 60 hashes and 3/,
    )
    expect(warnings[21]).toBe(
      'csp also blocks https://20.example (img-src), https://21.example (img-src), https://22.example (img-src) and 7 more. Fix the problems above, then build again.',
    )
  })

  test('distinguishes a file of the build from an event handler of the same name', async () => {
    expect(await warningsOf({ 'a.html': '<object data=online></object>' })).toEqual([
      "csp blocks online (object-src) in a.html:1. Allow it with csp: { 'object-src': [\"'self'\"] }, or remove it.",
    ])
  })

  test('returns the sources that the build adds to the policy, with reasons', async () => {
    const folder = await makeFolder({ 'a.wasm': '\0asm' })
    const need = { directive: 'script-src', source: "'wasm-unsafe-eval'", reason: 'a.wasm is WebAssembly' }
    const { policyNeeds, manifest } = await precompress(folder, { serving: { csp: true } })
    expect(policyNeeds).toEqual([need])
    expect(manifest.policy).toEqual({ 'script-src': ["'wasm-unsafe-eval'"] })
    expect(await precompress(folder)).toMatchObject({
      policyNeeds: [],
      manifest: { policy: manifest.policy },
    })
  })
})
