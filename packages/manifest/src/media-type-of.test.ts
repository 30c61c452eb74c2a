import { describe, expect, test } from 'vitest'
import { mediaTypeOf } from './media-type-of.ts'

describe('mediaTypeOf', () => {
  test.each([
    ['index.html', 'text/html; charset=utf-8'],
    ['assets/a.js', 'text/javascript; charset=utf-8'],
    ['a.mjs', 'text/javascript; charset=utf-8'],
    ['a.cjs', 'text/javascript; charset=utf-8'],
    ['a.CSS', 'text/css; charset=utf-8'],
    ['a.js.map', 'application/json'],
    ['a.json', 'application/json'],
    ['app.webmanifest', 'application/manifest+json'],
    ['a.wasm', 'application/wasm'],
    ['favicon.ico', 'image/x-icon'],
    ['a.svg', 'image/svg+xml'],
    ['sitemap.xml', 'text/xml; charset=utf-8'],
    ['robots.txt', 'text/plain; charset=utf-8'],
    ['README.md', 'text/markdown; charset=utf-8'],
    ['a.ttf', 'font/ttf'],
    ['a.otf', 'font/otf'],
    ['about.data', 'text/x-script; charset=utf-8'],
    ['a.eot', 'application/vnd.ms-fontobject'],
    ['a.woff2', 'font/woff2'],
    ['a.avif', 'image/avif'],
    ['a.webp', 'image/webp'],
    ['data.csv.gz', 'application/gzip'],
    ['data.csv.zst', 'application/zstd'],
    ['data.csv.br', 'application/octet-stream'],
    ['jquery-3.7.1.min.js', 'text/javascript; charset=utf-8'],
    ['.well-known/apple-app-site-association', 'application/json'],
    ['LICENSE', 'application/octet-stream'],
    // Names that equal an extension and folders with dots do not determine the type.
    ['html', 'application/octet-stream'],
    ['v1.css/js', 'application/octet-stream'],
    ['x.constructor', 'application/octet-stream'],
    ['x.', 'application/octet-stream'],
  ])('returns the type of %s: %s', (path, expected) => {
    expect(mediaTypeOf(path)).toBe(expected)
  })
})
