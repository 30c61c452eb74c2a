import { createHash } from 'node:crypto'
import type { ManifestLink, ServingRules } from '@serve-dist/manifest'
import type { PrecompressOptions } from '@serve-dist/precompress'
import type { FixtureFiles } from '../build-fixture.ts'
import { compressibleText } from '../compressible-text.ts'

/** A build of the soak test. */
export interface SoakSite {
  readonly files: FixtureFiles
  readonly options: PrecompressOptions
}

const shared: FixtureFiles = {
  'index.html': `<!doctype html><title>Index</title>${compressibleText(3000, 'index')}`,
  'assets/app-Bq3kX9aZ.js': compressibleText(90_000, 'app'),
  'assets/style-Dk2mY7bW.css': compressibleText(5000, 'style'),
  'data/list.json': compressibleText(2000, 'list'),
  'data/own.csv.gz': incompressibleBytes(700),
  'data/incompressible.bin': incompressibleBytes(200_000),
  'small.txt': 'small',
  'empty.txt': '',
  'names/a b+c%[d]é.txt': compressibleText(1500, 'name'),
  '.well-known/security.txt': 'Contact: mailto:security@example.org',
}

const pages: FixtureFiles = {
  'about.html': `<!doctype html><title>About</title>${compressibleText(2000, 'about')}`,
  'guide/index.html': '<!doctype html><title>Guide</title>',
  'über uns.html': '<!doctype html><title>Über uns</title>',
  'both.html': 'a page',
  'both/index.html': 'a folder',
}

const notFoundPage = `<!doctype html><title>Not found</title>${compressibleText(2500, 'lost')}`

const options: PrecompressOptions = {
  assetsDirectory: 'assets',
  isHashed: (path) => path.startsWith('assets/'),
}

/** One rule of each kind. */
const serving: ServingRules = {
  earlyHints: true,
  cacheControl: { 'data/**': 'public, max-age=60' },
  headers: {
    '**': { 'X-Soak': 'rules', vary: 'Origin' },
    '*.html': { 'Content-Language': 'en', 'x-content-TYPE-options': null },
  },
  redirects: [
    { from: '/old/*', to: '/new/:splat', status: 301 },
    { from: '/posts/:id.html', to: '/p?id=:id', status: 302 },
    { from: '/:year/:month/list', to: 'https://archive.example/:month/:year' },
    { from: '/data/list.json', to: '/moved.json', status: 307, force: true },
    { from: '/small.txt', to: '/404.html', status: 404, force: true },
    { from: '/guide/*', to: '/about.html', status: 200, force: true },
    { from: '/assets/*', to: '/about.html', status: 200, force: true },
    { from: '/empty/*', to: '/empty.txt', status: 200 },
    { from: '/gone/*', to: '/404.html', status: 404 },
    { from: '/*', to: '/index.html', status: 200 },
  ],
}

const links: readonly ManifestLink[] = [
  { path: 'assets/app-Bq3kX9aZ.js', rel: 'modulepreload', inDocument: true },
  { path: 'assets/style-Dk2mY7bW.css', rel: 'preload', as: 'style', inDocument: false },
]

/** A single-page application, several pages below a base, an application with a 404 page, and rules. */
export const soakSites: Readonly<Record<string, SoakSite>> = {
  spa: { files: shared, options: { ...options, appType: 'spa' } },
  mpa: {
    files: { ...shared, ...pages, '404.html': notFoundPage },
    options: { ...options, appType: 'mpa', base: '/app/' },
  },
  'spa with 404.html': {
    files: { ...shared, ...pages, '404.html': notFoundPage },
    options: { ...options, appType: 'spa' },
  },
  'spa with rules': {
    files: { ...shared, ...pages, '404.html': notFoundPage },
    options: { ...options, appType: 'spa', serving, linksOf: (page) => (page === 'index.html' ? links : []) },
  },
}

/** Returns the same incompressible bytes each time. */
export function incompressibleBytes(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_block, index) =>
    createHash('sha256').update(String(index)).digest(),
  )
  return Buffer.concat(blocks).subarray(0, length)
}
