import { describe, expect, test } from 'vitest'
import {
  fakeBuild,
  type FakeFile,
  fakeSite,
  type FakeSiteOptions,
  resourceAt,
} from '../../test/support/fake-site.ts'
import { noRequestFields } from '../protocol/request-fields.ts'
import { decide } from './decide.ts'
import { okAnswer } from './representation-answers.ts'
import type { Answer, Site } from './site.ts'

const [first, second] = ['1'.repeat(32), '2'.repeat(32)]
const chunk = (body: string, more: Partial<FakeFile> = {}): FakeFile => ({
  body,
  mediaType: 'text/javascript; charset=utf-8',
  cache: 'immutable',
  ...more,
})
const page: FakeFile = { body: '<p>', mediaType: 'text/html; charset=utf-8' }

/** Returns a site whose earlier build had a page and the given files. */
function siteAfter(files: Readonly<Record<string, FakeFile>>, options: FakeSiteOptions = {}): Site {
  const build = fakeBuild({ 'index.html': page, ...files }, { buildId: first })
  const current = { 'index.html': page, 'assets/new.js': chunk('new') }
  return fakeSite(current, { assetsDirectory: 'assets', kept: [build], ...options })
}

const bodyOf = (answer: Answer | undefined): string | undefined =>
  answer?.content.kind === 'memory' ? new TextDecoder().decode(answer.content.bytes) : undefined

const get = (site: Site, target: string, more = {}): Answer | undefined =>
  decide(site, { ...noRequestFields, target, ...more }, 'spa')

describe('isKeptFile', () => {
  test.each<readonly [string, string, Partial<FakeFile>, FakeSiteOptions['rules'], boolean]>([
    ['a hashed script', 'assets/old.js', {}, {}, true],
    ['a hashed style', 'assets/old.css', { mediaType: 'text/css; charset=utf-8' }, {}, true],
    ['a hashed WebAssembly module', 'assets/old.wasm', { mediaType: 'application/wasm' }, {}, true],
    ['a hashed font', 'assets/old.woff2', { mediaType: 'font/woff2' }, {}, true],
    ['a hashed SVG image', 'assets/old.svg', { mediaType: 'image/svg+xml' }, {}, true],
    ['a worker', 'assets/old.js', { worker: true }, {}, true],
    ['a name without a hash', 'app.js', { cache: 'revalidate' }, {}, false],
    [
      'a name that a current rule makes immutable',
      'app.js',
      { cache: 'revalidate' },
      { immutable: ['*.js'] },
      true,
    ],
    ['a hashed page', 'assets/old.html', { mediaType: 'text/html; charset=utf-8' }, {}, false],
    [
      'a page that a rule makes immutable',
      'old.html',
      { mediaType: 'text/html' },
      { immutable: ['**'] },
      false,
    ],
    ['a hashed XML document', 'assets/old.xml', { mediaType: 'text/xml; charset=utf-8' }, {}, false],
    ['a source map', 'assets/old.js.map', { mediaType: 'application/json' }, {}, false],
    ['a source map that rules serve', 'assets/old.js.map', {}, { sourceMaps: 'serve' }, false],
    ['the module of the environment', 'assets/env.js', { runtime: true }, { immutable: ['**'] }, false],
    ['the rules of a build', '_headers', {}, { immutable: ['**'] }, false],
  ])('decides about %s', (_what, path, more, rules = {}, isKept) => {
    const site = siteAfter({ [path]: chunk('old', more) }, { rules })
    expect(site.table.has(`/${path}`)).toBe(isKept)
    expect(site.summary).toMatchObject({ keptBuilds: isKept ? 1 : 0, keptFiles: isKept ? 1 : 0 })
  })
})

describe('buildSite, of earlier builds', () => {
  test('serves a file with its original bytes, variants and freshness, and the id of its build', () => {
    const site = siteAfter({ 'assets/old.js': chunk('old', { variants: { br: 'o' } }) })
    const kept = resourceAt(site, '/assets/old.js')
    expect(kept.buildId).toBe(first)
    expect(resourceAt(site, '/assets/new.js').buildId).toBeUndefined()
    const answer = get(site, '/assets/old.js', { acceptEncoding: 'br' })
    expect(bodyOf(answer)).toBe('o')
    expect(answer?.fields).toEqual(
      expect.arrayContaining(['br', 'Accept-Encoding', 'public, max-age=31536000, immutable']),
    )
    expect(bodyOf(get(site, '/assets/old.js', { range: 'bytes=1-1' }))).toBe('l')
    expect(get(site, '/assets/old.js', { ifNoneMatch: kept.identity.entityTag })?.status).toBe(304)
  })

  test('prefers the current build, then the newest build with the path', () => {
    const builds = [
      fakeBuild({ 'assets/a.js': chunk('a2'), 'assets/b.js': chunk('b2') }, { buildId: second }),
      fakeBuild(
        { 'assets/a.js': chunk('a1'), 'assets/b.js': chunk('b1'), 'assets/c.js': chunk('c1') },
        { buildId: first },
      ),
    ]
    const site = fakeSite({ 'assets/a.js': chunk('a3') }, { kept: builds })
    expect(['a', 'b', 'c'].map((name) => bodyOf(get(site, `/assets/${name}.js`)))).toEqual(['a3', 'b2', 'c1'])
    expect(site.summary).toMatchObject({ files: 1, keptBuilds: 2, keptFiles: 2, bytesInMemory: 6 })
    expect([...site.files.keys()]).toEqual(['assets/a.js'])
  })

  test('serves files below the base of their own build', () => {
    const build = fakeBuild({ 'assets/old.js': chunk('old') }, { buildId: first, base: '/old/' })
    const rules = { headers: { 'assets/*': { 'X-Rule': 'counts' } } }
    const site = fakeSite({ 'index.html': page }, { base: '/app/', kept: [build], rules })
    expect(bodyOf(get(site, '/old/assets/old.js'))).toBe('old')
    expect(get(site, '/old/assets/old.js')?.fields).toContain('counts')
    expect(get(site, '/app/assets/old.js')).toBeUndefined()
  })

  test('applies the current rules and the current policy', () => {
    const policy = {
      field: 'Content-Security-Policy',
      rules: [],
      from: [],
      valueFor: () => "default-src 'self'",
    }
    const files = { 'assets/old.js': chunk('old'), 'assets/worker.js': chunk('worker', { worker: true }) }
    const site = siteAfter(files, { policy, rules: { cors: ['assets/*'] } })
    const script = get(site, '/assets/old.js')?.fields
    expect(script).toContain('Access-Control-Allow-Origin')
    expect(script).not.toContain('Content-Security-Policy')
    const worker = get(site, '/assets/worker.js')?.fields
    expect(worker).toEqual(expect.arrayContaining(["default-src 'self'", 'no-cache']))
  })

  test('precedes the fallback and rules without force, but not forced rules', () => {
    const old = { 'assets/old.js': chunk('old') }
    const target = '/assets/old.js'
    const rule = { from: '/assets/*', to: 'https://cdn.test/:splat', status: 302 as const }
    expect(bodyOf(get(siteAfter(old), target, { secFetchMode: 'navigate' }))).toBe('old')
    expect(bodyOf(get(siteAfter(old, { rules: { redirects: [rule] } }), target))).toBe('old')
    const forced = siteAfter(old, { rules: { redirects: [{ ...rule, force: true }] } })
    expect(get(forced, target)).toMatchObject({ status: 302 })
    expect(forced.summary.keptFiles).toBe(0)
  })

  test('is not a target of rules', () => {
    const redirects = [{ from: '/script', to: '/assets/old.js', status: 200 as const }]
    const site = siteAfter({ 'assets/old.js': chunk('old') }, { rules: { redirects } })
    expect(site.redirects).toEqual([])
  })

  test('offers only variants and files whose bytes exist', () => {
    const build = fakeBuild(
      { 'assets/a.js': chunk('a', { variants: { br: 'b' } }), 'assets/gone.js': chunk('gone') },
      { buildId: first },
    )
    const [file, gone] = build.manifest.files
    const stored = new Map(
      [...build.stored].filter(([entry]) => entry !== gone && !file?.variants.some((each) => each === entry)),
    )
    const site = fakeSite({ 'index.html': page }, { kept: [{ ...build, stored }] })
    const resource = resourceAt(site, '/assets/a.js')
    expect(resource.representations).toEqual([resource.identity])
    expect(okAnswer(resource.identity, resource).fields).toContain('Vary')
    expect(site.table.has('/assets/gone.js')).toBe(false)
  })
})
