import { engineNodeChoice } from '@serve-dist/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keepFileOpen, retireFile } from '../files/kept-file.ts'
import { decide } from '../site/decide.ts'
import type { Answer, Site } from '../site/site.ts'
import {
  fakeBuild,
  type FakeFile,
  type FakeFiles,
  fakeSite,
  resourceAt,
} from '../../test/support/fake-site.ts'
import { readEngineTable, type TableResource } from '../../test/support/read-engine-table.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'
import { type FlatSite, flattenSite } from './engine-table.ts'

const files: FakeFiles = {
  'index.html': { body: '<!doctype html>', variants: { br: 'page' }, mediaType: 'text/html; charset=utf-8' },
  'about.html': 'about',
  'assets/a-1.js': { body: '0123456789', variants: { zstd: 'zz', br: 'b', gzip: 'ggg' }, cache: 'immutable' },
  'assets/ä b.txt': 'escaped',
  'film.mp4': { body: '0123456789', variants: { gzip: 'film' }, isStreamed: true },
  'logo.svg': { body: 'logo', variants: { gzip: 'l' } },
}
const kept = [fakeBuild({ 'assets/old-1.js': { body: 'old', variants: { br: 'o' }, cache: 'immutable' } })]
const rules = { headers: { '**/*.js': { 'X-Frame-Options': 'DENY' }, 'logo.svg': { Vary: 'Origin' } } }
const script: FakeFile = {
  body: '0123456789'.repeat(60),
  stem: 'a-[hash].js',
  mediaType: 'text/javascript',
  cache: 'immutable',
  deltas: { old: { dcb: 'd' } },
}
const dictionaries = { 'a-1.js': script, 'b-1.js': { ...script, stem: 'b-[hash].js' }, 'c.txt': 'c' }
const sites = [
  fakeSite(files, { kept, rules }),
  fakeSite(files, { base: '/app/', prefer: 'smallest' }),
  fakeSite(dictionaries, { base: '/with-dictionaries/', hasDeltas: true }),
  fakeSite({ ...files, 'new.txt': { body: 'n', lastModified: '2026-02-01T00:00:00Z' } }, { base: '/dates/' }),
]

const member = fc
  .tuple(
    fc.constantFrom('gzip', 'x-gzip', 'br', 'ZSTD', 'identity', '*', 'deflate', 'dcb', 'b r'),
    fc.constantFrom('', ';q=0', '; q=0.5', ';q=1', ';q=2'),
  )
  .map(([coding, weight]) => coding + weight)
const acceptEncoding = fc.option(
  fc.array(member, { minLength: 1, maxLength: 5 }).map((members) => members.join(', ')),
  { nil: undefined },
)

function flatten(site: Site): FlatSite {
  const steps = flattenSite(site)
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}

function headOf({ status, fields }: Answer): string {
  const names = fields.filter((_, index) => index % 2 === 0)
  const lines = names.map((name, index) => `${name}: ${fields[2 * index + 1]}\r\n`)
  return `HTTP/1.1 ${status} ${status === 200 ? 'OK' : 'Not Modified'}\r\n${lines.join('')}`
}

describe('flattenSite', () => {
  test.each(sites.map((site) => ({ base: site.base, site })))(
    'has the answers of decide below $base for any Accept-Encoding',
    ({ site }) => {
      const flat = flatten(site)
      const table = readEngineTable(flat)
      fc.assert(
        fc.property(fc.constantFrom(...table), acceptEncoding, ([target, resource], accepted) => {
          const request = createRequestFields({ method: 'GET', target, acceptEncoding: accepted })
          const answer = decide(site, request, 'none')
          const choice = flat.choicesFor(accepted)[resource.layout] ?? engineNodeChoice
          const chosen = resource.representations[choice]
          expect(choice === engineNodeChoice).toBe(answer?.status === 406)
          fc.pre(chosen !== undefined)
          expect(chosen.ok).toBe(answer && headOf(answer))
          expect(chosen.body).toBe(
            answer?.content.kind === 'memory' ? Buffer.from(answer.content.bytes).toString() : undefined,
          )
          const byTag = decide(site, { ...request, ifNoneMatch: chosen.tag }, 'none')
          expect(chosen.notModified).toBe(byTag && headOf(byTag))
          const ifModifiedSince = resource.lastModified
          const byDate =
            ifModifiedSince === '' ? byTag : decide(site, { ...request, ifModifiedSince }, 'none')
          expect(byDate).toEqual(byTag)
          expect(byTag?.status).toBe(304)
        }),
        { numRuns: 500 },
      )
    },
  )

  test('contains every canonical path of a resource, including those of earlier builds', () => {
    expect([...tableOf(fakeSite(files, { kept })).keys()].toSorted()).toEqual([
      '/',
      '/__serve-dist/build.json',
      '/about',
      '/about.html',
      '/assets/%C3%A4%20b.txt',
      '/assets/a-1.js',
      '/assets/old-1.js',
      '/film.mp4',
      '/index.html',
      '/logo.svg',
    ])
  })

  test('leaves redirects to Node, and paths that decide rejects with a query', () => {
    const site = fakeSite({ ...files, 'line\nbreak.txt': 'odd' }, { base: '/app/' })
    expect(site.table.get('/app')?.kind).toBe('redirect')
    expect(
      decide(site, createRequestFields({ method: 'GET', target: '/app/line%0Abreak.txt?a' }), 'none')?.status,
    ).toBe(400)
    expect(tableOf(site).get('/app')).toBeUndefined()
    expect(tableOf(site).get('/app/line%0Abreak.txt')).toBeUndefined()
  })

  test('leaves pages with early hints over HTTP/1.1 to Node and marks those of HTTP/2', () => {
    const site = fakeSite(files)
    const page = { ...resourceAt(site, '/about'), earlyHints: ['</a.css>; rel=preload'] }
    const hinting = { ...site, table: new Map([...site.table, ['/about', page] as const]) }
    const table = tableOf(hinting)
    expect([table.get('/about')?.hasHints, table.get('/')?.hasHints]).toEqual([true, false])
    expect(tableOf({ ...hinting, earlyHints: true }).has('/about')).toBe(false)
    expect(tableOf({ ...hinting, earlyHints: true }).has('/')).toBe(true)
  })

  test('leaves bodies to Node that are empty or not in memory', () => {
    const table = tableOf(fakeSite({ ...files, 'empty.txt': '' }))
    expect(table.get('/film.mp4')?.representations.map(({ body }) => body)).toEqual([undefined, undefined])
    expect(table.get('/empty.txt')?.representations.map(({ body }) => body)).toEqual([undefined])
  })

  test('lists a streamed file only if it is open and small enough for the table', () => {
    const site = fakeSite(files)
    const [smaller, film] = resourceAt(site, '/film.mp4').representations.map(({ bytes }) => bytes)
    if (smaller?.body !== undefined || film?.body !== undefined || !film || !smaller)
      throw new Error('in memory')
    keepFileOpen(film, -1, () => {})
    keepFileOpen(Object.assign(smaller, { size: 2 ** 32 }), -1, () => {})
    expect(
      tableOf(site)
        .get('/film.mp4')
        ?.representations.map(({ file }) => file),
    ).toEqual([undefined, film.file])
    expect(flatten(site).files).toEqual([
      {
        path: film.file,
        state: `${film.fingerprint}:${film.changeTime}`,
        sha256: film.sha256,
      },
    ])
    retireFile(film)
    expect(flatten(site).files).toEqual([])
  })

  test('leaves bodies to Node that are too long for the table', () => {
    const site = fakeSite(files)
    const [first] = resourceAt(site, '/logo.svg').representations
    Object.assign(first?.bytes ?? {}, { size: 2 ** 32 + 1 })
    const bodies = tableOf(site)
      .get('/logo.svg')
      ?.representations.map(({ body }) => body)
    expect(bodies).toEqual([undefined, 'logo'])
  })

  test('marks resources with deltas', () => {
    const table = tableOf(fakeSite(dictionaries, { hasDeltas: true }))
    expect([table.get('/a-1.js')?.hasDeltas, table.get('/c.txt')?.hasDeltas]).toEqual([true, false])
  })

  test('has no date if the times of a build are fixed', () => {
    expect(tableOf(fakeSite(files, { timesAreFixed: true })).get('/about')?.lastModified).toBe('')
  })

  test('is empty for a site without files', () => {
    const flat = flatten({ ...fakeSite({}), table: new Map() })
    expect([...flat.index]).toEqual([0, 0, 0, 0])
    expect([...flat.choicesFor('br')]).toEqual([])
  })
})

function tableOf(site: Site): ReadonlyMap<string, TableResource> {
  return readEngineTable(flatten(site))
}
