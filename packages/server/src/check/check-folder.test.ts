import { rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildFixture, type FixtureFiles } from '../../test/support/build-fixture.ts'
import { checkFolder } from './check-folder.ts'
import type { CheckReport } from './finding.ts'

const whole = {
  'index.html': '<script type="module" src="/assets/main.js"></script><img src="photo.jpg?1">',
  'guide/index.html':
    '<link rel="stylesheet" href="../assets/main.css"><img src="https://example.org/x.png">',
  '404.html': 'nothing here',
  'assets/main.js': 'script',
  'assets/main.css': 'style',
  'photo.jpg': 'photo',
}

const plain = { load: {}, hasApplication: false }

async function check(files: FixtureFiles, options = {}): Promise<CheckReport> {
  return await checkFolder(await buildFixture(files, options), plain)
}

function essence({ findings }: CheckReport): unknown {
  return findings.map(({ code, level, paths }) => [level, code, ...paths])
}

describe('checkFolder', () => {
  test('finds no fault in a complete build, and lists the checked aspects', async () => {
    expect(await check(whole)).toMatchObject({
      findings: [],
      right: [
        '6 files accepted by the server',
        'no file with the name of a secret',
        'no public source map',
        '404.html',
        'all files that pages name',
      ],
    })
  })

  test.each<readonly [string, (directory: string) => Promise<unknown>, string]>([
    ['a missing file', (directory) => rm(join(directory, 'photo.jpg')), 'SD_MANIFEST_MISMATCH'],
    [
      'changed bytes',
      (directory) => writeFile(join(directory, 'photo.jpg'), 'ohtop'),
      'SD_MANIFEST_MISMATCH',
    ],
    ['a missing folder', (directory) => rm(directory, { recursive: true }), 'SD_BUILD_NOT_FOUND'],
    [
      'a truncated manifest',
      (directory) => truncate(join(directory, '.serve-dist/manifest.json'), 10),
      'SD_MANIFEST_INVALID',
    ],
  ])('reports %s with the error of a start', async (_what, spoil, code) => {
    const directory = await buildFixture(whole)
    await spoil(directory)
    const { findings, right } = await checkFolder(directory, plain)
    expect(findings).toEqual([
      expect.objectContaining({ code, level: 'error', text: expect.stringContaining(code) }),
    ])
    expect(right).toEqual([])
  })

  test('reports the warnings of a start', async () => {
    const report = await check({ ...whole, _redirects: '/old /new 299' })
    expect(report.findings).toEqual([
      { code: 'start-warns', level: 'warning', paths: [], text: expect.stringContaining('299') },
    ])
  })

  test('warns if this environment lacks a value that the server needs, and checks the rest', async () => {
    const rules = {
      redirects: [{ from: '/api/*', to: { env: 'SERVE_DIST_TEST_API' }, status: 200, force: true }],
    } as const
    const load = { ...plain.load, rules }
    const { findings, right } = await checkFolder(await buildFixture(whole), { ...plain, load })
    expect(findings).toEqual([
      expect.objectContaining({
        code: 'environment-missing',
        level: 'warning',
        text: expect.stringContaining('SERVE_DIST_TEST_API'),
      }),
    ])
    expect(right).toContain('404.html')
    expect(right).not.toContain('6 files accepted by the server')
  })

  test('reports unlisted pages, too, if this environment lacks a value', async () => {
    const directory = await buildFixture({ 'assets/main.js': 'script' })
    await writeFile(join(directory, 'index.html'), 'page')
    const redirects = [{ from: '/api', to: { env: 'SERVE_DIST_TEST_API' }, status: 200 }] as const
    const load = { ...plain.load, rules: { redirects } }
    const codes = (await checkFolder(directory, { ...plain, load })).findings.map(({ code }) => code)
    expect(codes).toEqual(expect.arrayContaining(['SD_PAGES_UNLISTED', 'environment-missing']))
  })

  test('reports an env file that cannot be read', async () => {
    const directory = await buildFixture(whole)
    const load = { ...plain.load, envFile: join(directory, 'none.env') }
    const { findings } = await checkFolder(directory, { ...plain, load })
    expect(findings.map(({ code, text }) => [code, text])).toContainEqual([
      'environment-missing',
      expect.stringContaining('none.env'),
    ])
  })

  test('continues if a start rejects a build without its pages', async () => {
    const directory = await buildFixture({ 'assets/main.js': 'script', id_rsa: 'x' })
    await writeFile(join(directory, 'index.html'), '<img src=gone.png>')
    const report = await checkFolder(directory, plain)
    expect(essence(report)).toEqual([
      ['error', 'SD_PAGES_UNLISTED'],
      ['error', 'secret-served', 'id_rsa'],
    ])
    const ignored = await checkFolder(directory, { ...plain, load: { unlisted: 'warn' } })
    expect(essence(ignored)).toEqual([
      ['error', 'secret-served', 'id_rsa'],
      ['warning', 'start-warns'],
    ])
  })

  test('reports a lost manifest with the error of a start', async () => {
    const files = { ...whole, 'assets/main.js': 'script '.repeat(100) }
    const directory = await buildFixture(files)
    await rm(join(directory, '.serve-dist'), { recursive: true })
    await writeFile(join(directory, '.env'), 'A=1')
    expect(essence(await checkFolder(directory, plain))).toEqual([
      ['error', 'SD_MANIFEST_LOST'],
      ['warning', 'secret-in-folder', '.env'],
    ])
  })

  test('leaves unknown paths to an application, except hashed assets', async () => {
    const files = {
      'index.html': '<img src=/api/photo><script src=/assets/gone.js></script>',
      'assets/main.js': 'script',
    }
    const directory = await buildFixture(files, { appType: 'custom', assetsDirectory: 'assets' })
    expect(essence(await checkFolder(directory, { ...plain, hasApplication: true }))).toEqual([
      ['error', 'page-needs-missing', '/assets/gone.js in index.html'],
    ])
  })

  test('finds secrets by their names, both served and unserved', async () => {
    const report = await check({
      ...whole,
      '.env': 'A=1',
      '.env.production': 'A=1',
      '.env.example': 'A=',
      'keys/server.key': '-----BEGIN PRIVATE KEY-----',
      'keys/slides.key': 'PK\u0003\u0004',
      'keys/chain.pem': '-----BEGIN CERTIFICATE-----',
      'keys/both.pem': '-----BEGIN CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----',
      id_rsa: 'x',
    })
    expect(essence(report)).toEqual([
      ['error', 'secret-served', 'id_rsa', 'keys/both.pem', 'keys/server.key'],
      ['warning', 'secret-in-folder', '.env', '.env.production'],
    ])
  })

  test('finds source maps unless a rule denies them', async () => {
    const files = { ...whole, 'assets/main.js.map': '{}' }
    expect(essence(await check(files))).toEqual([['warning', 'source-maps-public', 'assets/main.js.map']])
    const directory = await buildFixture(files)
    expect(
      essence(await checkFolder(directory, { ...plain, load: { rules: { sourceMaps: 'deny' } } })),
    ).toEqual([])
  })

  test('reports a missing 404 page if unknown paths get 404', async () => {
    const { '404.html': _page, ...rest } = whole
    expect(essence(await check(rest, { appType: 'mpa' }))).toEqual([['warning', 'no-404-page', '404.html']])
    expect(essence(await check(rest, { appType: 'spa' }))).toEqual([])
  })

  test('finds missing files that pages name, and reports scripts and styles as errors', async () => {
    const report = await check({
      ...whole,
      'index.html': '<script type=module src=/src/main.tsx></script><link rel=icon href=/icon.svg>',
      'guide/index.html': '<base href="/"><link rel=stylesheet href=assets/main.css><img src=../photo.jpg>',
    })
    expect(essence(report)).toEqual([
      ['error', 'page-needs-missing', '/src/main.tsx in index.html'],
      ['warning', 'page-names-missing', '/icon.svg in index.html'],
    ])
  })

  test('ignores paths outside the base, and follows redirects of the build', async () => {
    const files = {
      'index.html': '<img src=/api/photo><script src=/app/old.js></script><script src=gone.js></script>',
      '404.html': 'nothing',
      'new.js': 'script',
      _redirects: '/app/old.js /app/new.js 302',
    }
    expect(essence(await check(files, { base: '/app/' }))).toEqual([
      ['error', 'page-needs-missing', 'gone.js in index.html'],
    ])
  })
})
