import { parseKeptList } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { fakeBuild, type FakeFile, fakeSite, type FakeSiteOptions } from '../../test/support/fake-site.ts'
import { noRequestFields } from '../protocol/request-fields.ts'
import { decide } from './decide.ts'
import { okAnswer } from './representation-answers.ts'
import type { Site } from './site.ts'

const [first, second, current] = ['1'.repeat(32), '2'.repeat(32), '3'.repeat(32)]
const file = (mediaType: string, more: Partial<FakeFile> = {}): FakeFile => ({
  body: mediaType,
  mediaType,
  cache: 'immutable',
  ...more,
})
const script = file('text/javascript; charset=utf-8', { variants: { br: 'b' } })
const files = {
  'index.html': file('text/html; charset=utf-8'),
  'assets/a-3.js': file('text/javascript; charset=utf-8', {
    variants: { br: 'b' },
    stem: 'assets/a-[hash].js',
  }),
  'assets/a-3.js.map': file('application/json'),
  'assets/data-3.json': file('application/json'),
  'assets/font-3.woff2': file('font/woff2'),
  'assets/hidden-3.js': script,
  'sw.js': script,
  'app.js': { ...script, cache: 'revalidate' },
} as const
const kept = [
  {
    ...fakeBuild({ 'assets/a-2.js': script, 'assets/hidden-2.js': script }, { buildId: second }),
    superseded: 3000,
  },
  {
    ...fakeBuild({ 'assets/a-1.js': script, 'assets/a-2.js': script }, { buildId: first }),
    superseded: 1000,
  },
]

function siteWith(options: FakeSiteOptions = {}): Site {
  return fakeSite(files, { buildId: current, kept, ...options })
}

function listOf(site: Site, target = '/__serve-dist/kept.json'): unknown {
  const answer = decide(site, { ...noRequestFields, target }, 'none')
  if (answer?.content.kind !== 'memory') return answer?.status
  const { builds } = parseKeptList(new TextDecoder().decode(answer.content.bytes))
  return builds.map((build) => [build.id, build.superseded, build.files.map(({ path }) => path)])
}

describe('keptListResource', () => {
  test('lists the hashed files that a later build may carry', () => {
    expect(listOf(siteWith())).toEqual([
      [current, undefined, ['assets/a-3.js', 'assets/font-3.woff2', 'assets/hidden-3.js']],
      [second, '1970-01-01T00:00:03Z', ['assets/a-2.js', 'assets/hidden-2.js']],
      [first, '1970-01-01T00:00:01Z', ['assets/a-1.js']],
    ])
  })

  test('omits files that rules hide', () => {
    const redirects = [{ from: '/assets/hidden-:name', to: '/gone.js', status: 302 as const, force: true }]
    expect(listOf(siteWith({ rules: { redirects } }))).toEqual([
      [current, undefined, ['assets/a-3.js', 'assets/font-3.woff2']],
      [second, '1970-01-01T00:00:03Z', ['assets/a-2.js']],
      [first, '1970-01-01T00:00:01Z', ['assets/a-1.js']],
    ])
  })

  test('has sizes, digests, stems and the variants that the server has', () => {
    const [build] = kept
    const script2 = build?.manifest.files[0]
    const stored = new Map([...(build?.stored ?? [])].filter(([entry]) => entry !== script2?.variants[0]))
    const site = siteWith({ kept: build === undefined ? [] : [{ ...build, stored }] })
    const answer = decide(site, { ...noRequestFields, target: '/__serve-dist/kept.json' }, 'none')
    const text = answer?.content.kind === 'memory' ? new TextDecoder().decode(answer.content.bytes) : ''
    const [own, earlier] = parseKeptList(text).builds
    expect(own?.files[0]).toMatchObject({ stem: 'assets/a-[hash].js', variants: [{ coding: 'br', size: 1 }] })
    expect(earlier?.files[0]).toEqual({
      path: 'assets/a-2.js',
      size: script2?.size,
      sha256: script2?.sha256,
      variants: [],
    })
  })

  test('must be revalidated, and is made at the first request', () => {
    const site = siteWith({ base: '/app/', kept: [] })
    const entry = site.table.get('/app/__serve-dist/kept.json')
    if (entry?.kind !== 'resource') throw new TypeError('no list')
    const answer = okAnswer(entry.identity, entry)
    expect(answer.fields).toEqual(expect.arrayContaining(['application/json', 'no-cache', 'nosniff']))
    expect(entry.identity.bytes).toBe(entry.identity.bytes)
    expect(listOf(structuredClone(site), '/app/__serve-dist/kept.json')).toHaveLength(1)
  })

  test('does not exist with keptList: false', () => {
    expect(listOf(siteWith({ rules: { keptList: false } }))).toBeUndefined()
  })

  test.each([
    ['too large', 30_000, 'a'.repeat(200)],
    ['too deep', 38_000, 'a'],
  ])('omits the oldest builds if the list is %s for carry', (_what, length, name) => {
    const names = Array.from({ length }, (_, index) => [`assets/${name}-${index}.js`, script] as const)
    const huge = { ...fakeBuild(Object.fromEntries(names), { buildId: first }), superseded: 1000 }
    expect(listOf(siteWith({ kept: [...kept.slice(0, 1), huge] }))).toHaveLength(2)
  })

  test('omits builds with another base', () => {
    expect(listOf(siteWith({ base: '/app/' }), '/app/__serve-dist/kept.json')).toHaveLength(1)
  })
})
