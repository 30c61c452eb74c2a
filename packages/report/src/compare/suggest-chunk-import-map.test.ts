import { documentUrl } from '@serve-dist/foundation/text/document-url'
import { expect, test } from 'vitest'
import { type FileSketch, makeManifest } from '../../test/support/make-manifest.ts'
import { compareBuilds } from './compare-builds.ts'
import { suggestChunkImportMap } from './suggest-chunk-import-map.ts'

/** The growth of files with new names, in bytes. */
type Changes = Readonly<Record<string, number>>

const names = ['main.js', 'shared.js', 'home.js', 'orders.js', 'about.js', 'help.js']

function suggest(changes: Changes, files = names): string | undefined {
  const [before, after] = [{}, changes].map((changed: Changes) =>
    makeManifest(files.map((name) => sketch(name, changed[name]))),
  )
  return before && after && suggestChunkImportMap(compareBuilds(before, after))
}

function sketch(name: string, growth: number | undefined): FileSketch {
  const stem = `assets/${name.replace('.', '-[hash].')}`
  const path = stem.replace('[hash]', growth === undefined ? 'AAAA1111' : 'BBBB2222')
  return { path, stem, size: 1000 + (growth ?? 0), content: path }
}

test('suggests the option if most of many renamed scripts have their old size', () => {
  expect(suggest({ 'shared.js': 12, 'main.js': 0, 'home.js': 0, 'orders.js': 0 })).toBe(
    `3 of 4 renamed scripts have their old size: probably only names of imports changed. Vite's build.chunkImportMap avoids this: ${documentUrl('deploys')}`,
  )
})

test.each<[string, Changes, string[]?]>([
  ['one script changed', { 'shared.js': 12 }],
  ['only two scripts have their old size', { 'shared.js': 12, 'main.js': 0, 'home.js': 0 }],
  [
    'most renamed scripts have another size',
    { 'shared.js': 12, 'main.js': 4, 'home.js': 3, 'orders.js': 0, 'about.js': 0, 'help.js': 0 },
  ],
  [
    'less than a quarter of the scripts have new names',
    { 'main.js': 0, 'home.js': 0, 'orders.js': 0 },
    [...names, ...Array.from({ length: 7 }, (_, at) => `${at}.js`)],
  ],
  ['the files are styles', { 'a.css': 0, 'b.css': 0, 'c.css': 0 }, ['a.css', 'b.css', 'c.css']],
])('suggests nothing if %s', (_, changes, files) => {
  expect(suggest(changes, files)).toBeUndefined()
})
