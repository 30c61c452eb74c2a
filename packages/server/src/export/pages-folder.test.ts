import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllHeaders } from '@netlify/headers-parser'
import { parseAllRedirects } from '@netlify/redirect-parser'
import type { PrecompressOptions } from '@serve-dist/precompress'
import { describe, expect, test } from 'vitest'
import { buildFixture, type FixtureFiles } from '../../test/support/build-fixture.ts'
import { hostileFiles } from '../../test/support/hostile-site.ts'
import { temporaryDirectory } from '../../test/support/temporary-directory.ts'
import { loadSite } from '../load/load-site.ts'
import { overridesFor } from '../site/field-rules.ts'
import { parseHeadersFile } from '../site/parse-headers-file.ts'
import { parsePathPattern } from '../site/path-pattern.ts'
import { parseRedirectsFile } from '../site/parse-redirects-file.ts'
import { cloudflarePages, netlify } from './page-host.ts'
import { pagesFolder, type PagesFolder } from './pages-folder.ts'
import { type ExportPlan, planExport } from './plan-export.ts'

const options: PrecompressOptions = {
  appType: 'mpa',
  assetsDirectory: 'assets',
  isHashed: (path) => path.includes('1a2b3c'),
  serving: { csp: true, securityHeaders: true },
}

async function planOf(files: FixtureFiles, more: PrecompressOptions = {}): Promise<ExportPlan> {
  const directory = await buildFixture(files, { ...options, ...more })
  return planExport(await loadSite(directory, { onWarning: () => {} }))
}

function textOf({ texts }: PagesFolder, name: string): string {
  return texts.get(name) ?? ''
}

describe('_headers', () => {
  test.each([netlify, cloudflarePages])('sets the headers of each file at $name', async (host) => {
    const plan = await planOf(hostileFiles)
    const folder = pagesFolder(plan, host)
    const { rules, problems } = parseHeadersFile(textOf(folder, '_headers'))
    expect(problems).toEqual([])
    const read = rules.map(({ pattern, fields }) => ({
      on: 'path' as const,
      pattern: parsePathPattern(pattern),
      fields,
    }))
    const told = folder.left.join('\n')
    for (const planned of plan.paths) {
      if (planned.kind !== 'file' || (host.dropsHtml && planned.path.endsWith('.html'))) continue
      if (told.includes(`_headers, ${planned.path}:`)) continue
      const { file, path } = planned
      const given = overridesFor(read, { path: '', mediaType: '' }, [decodeURIComponent(path)])
      const missing = file.fields.filter(([name, value]) => given.get(name.toLowerCase())?.value !== value)
      expect([path, missing.filter(([, value]) => !/^(?:no-cache|Accept-Encoding)$/.test(value))]).toEqual([
        path,
        [],
      ])
      expect(given.get('cache-control')?.value ?? 'no-cache').toBe(file.resource.cacheControl)
    }
  })

  test('is valid for the parser of Netlify', async () => {
    const text = textOf(pagesFolder(await planOf(hostileFiles), netlify), '_headers')
    const file = join(await temporaryDirectory(), '_headers')
    await writeFile(file, text)
    const parsed = await parseAllHeaders({ headersFiles: [file], configHeaders: undefined, minimal: true })
    expect(parsed.errors).toEqual([])
    expect(parsed.headers).toEqual(
      parseHeadersFile(text).rules.map(({ pattern, fields }) => ({ for: pattern, values: fields })),
    )
  })

  test('has one rule for hashed files, and at most 100 rules with policies first', async () => {
    const pages = Array.from({ length: 150 }, (_none, index): [string, string] => [
      `p${index}.html`,
      `<!doctype html><script>run(${index})</script>`,
    ])
    const data = Array.from({ length: 20 }, (_none, index): [string, string] => [`d${index}.json`, '{}'])
    const files = {
      ...Object.fromEntries([...data, ...pages]),
      'assets/a-1a2b3c.js': 'a',
      'assets/b-1a2b3c.js': 'b',
      _headers: '/d*\n  X-Data: yes\n',
    }
    const folder = pagesFolder(await planOf(files), cloudflarePages)
    const { rules } = parseHeadersFile(textOf(folder, '_headers'))
    expect(rules).toHaveLength(100)
    expect(rules.slice(0, 2).map(({ pattern }) => pattern)).toEqual(['/*', '/assets/*'])
    expect(rules.slice(2).every(({ fields }) => 'Content-Security-Policy' in fields)).toBe(true)
    expect(folder.left).toEqual([
      '_headers: 172 rules are needed, but only 100 are allowed. These paths have no rule: /p52, /p53, /p54 and 69 more',
    ])
  })

  test('omits lines that are too long', async () => {
    const scripts = Array.from({ length: 40 }, (_none, index) => `<script>run(${index})</script>`).join('')
    const files = { 'index.html': '<!doctype html>', 'long.html': `<!doctype html>${scripts}` }
    const { left, texts } = pagesFolder(await planOf(files), cloudflarePages)
    expect(left).toEqual([
      expect.stringMatching(
        /^_headers, \/long: the rule is omitted, because a line has 2\d{3} characters and the limit is 2000$/,
      ),
    ])
    expect(texts.get('_headers')).not.toContain('/long')
  })
})

describe('_redirects', () => {
  test('contains the rules of the build, and is valid for the parser of Netlify', async () => {
    const text = textOf(pagesFolder(await planOf(hostileFiles), netlify), '_redirects')
    const file = join(await temporaryDirectory(), '_redirects')
    await writeFile(file, text)
    const parsed = await parseAllRedirects({ redirectsFiles: [file], configRedirects: [], minimal: true })
    expect(parsed.errors).toEqual([])
    expect(parsed.redirects).toHaveLength(12)
    expect(parseRedirectsFile(text)).toEqual({
      problems: [],
      rules: [
        { from: '/about.html', to: '/about', status: 301, force: true },
        { from: '/old/*', to: '/new/:splat', status: 301, force: false },
        { from: '/go/:id', to: '/item?id=:id', status: 302, force: false },
        { from: '/stra%C3%9Fe', to: '/about', status: 307, force: false },
        { from: '/away', to: 'https://other.example/y?q=1#f', status: 308, force: false },
        { from: '/shop/*', to: '/docs/api.html', status: 200, force: false },
        { from: '/gone/*', to: '/404.html', status: 404, force: false },
        { from: '/feed', to: '/data.json', status: 200, force: false },
        { from: '/loop/*', to: '/loop/new/:splat', status: 301, force: false },
        { from: '/quoted', to: '/a"b`c{d}\\e$f%0a#g"h', status: 302, force: false },
        { from: '/braces/*', to: '/{$SITE}/:splat/{env.HOME}?a=${b}', status: 302, force: false },
        { from: '/tail', to: '/x\\', status: 302, force: false },
      ],
    })
  })

  test('has the order for Cloudflare Pages, and omits rules that would hide files', async () => {
    const rules = ['/x/* /y 301', '/docs/* /elsewhere 302', '/s /t 301', '/gone /404.html 404'].join('\n')
    const files = {
      'index.html': '<!doctype html>',
      '404.html': '<!doctype html>',
      'docs/a.html': '<!doctype html>',
      _redirects: rules,
    }
    const { left, texts } = pagesFolder(await planOf(files), cloudflarePages)
    expect(texts.get('_redirects')).toBe('/s /t 301\n/x/* /y 301\n')
    expect(left).toEqual([
      '_redirects, /docs/*: the rule is omitted, because it would also apply to the existing path /docs/a.html',
      '_redirects, /gone: the rule is omitted, because rules cannot answer 404',
    ])
  })

  test('has at most 2,000 static and 100 dynamic rules for Cloudflare Pages', async () => {
    const single = Array.from({ length: 2001 }, (_none, index) => `/s${index} /t 301`)
    const dynamic = Array.from({ length: 101 }, (_none, index) => `/d${index}/* /t 301`)
    const rules = [...dynamic, ...single, `/long /${'x'.repeat(1000)} 301`].join('\n')
    const folder = pagesFolder(await planOf({ 'index.html': '', _redirects: rules }), cloudflarePages)
    expect(folder.texts.get('_redirects')?.split('\n')).toHaveLength(2101)
    expect(folder.left).toEqual([
      '_redirects, /long: the rule is omitted, because it has 1011 characters and the limit is 1000',
      '_redirects: 2001 static rules are needed, but only 2000 are allowed. These are omitted: /s2000',
      '_redirects: 101 dynamic rules are needed, but only 100 are allowed. These are omitted: /d100/*',
    ])
  })

  test('never answers with the application for a hashed file', async () => {
    const plan = await planOf(
      { 'index.html': '<!doctype html>', 'assets/a-1a2b3c.js': 'a' },
      { appType: 'spa' },
    )
    const [ours, other] = [pagesFolder(plan, netlify), pagesFolder(plan, cloudflarePages)]
    expect(ours.texts.get('_redirects')).toBe('/assets/* /assets/404.html 404\n/* /index.html 200\n')
    // Cloudflare Pages uses the nearest 404.html above a path. Without one, it serves the application.
    expect(other.texts.get('_redirects')).toBe('')
    expect([...other.texts.keys()]).toEqual(['_headers', '_redirects', 'assets/404.html'])
  })
})
