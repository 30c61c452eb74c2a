import { describe, expect, test } from 'vitest'
import { parseKeptList } from './parse-kept-list.ts'

const sha256 = 'a'.repeat(64)
const file = { path: 'assets/a-1.js', size: 1, sha256, variants: [{ coding: 'br', size: 1, sha256 }] }

function textOf(files: readonly object[], more: object = {}): string {
  return JSON.stringify({ version: 1, builds: [{ id: 'b'.repeat(32), files, ...more }] })
}

describe('parseKeptList', () => {
  test('reads a list and ignores unknown fields', () => {
    const more = { superseded: '2026-01-31T12:00:00Z' }
    const text = textOf([{ ...file, worker: true, mediaType: 'text/html' }], { ...more, base: '/' })
    expect(parseKeptList(text)).toEqual(JSON.parse(textOf([{ ...file, worker: true }], more)))
  })

  test.each([
    ['no JSON', '{', /^\$: not JSON/],
    ['another version', '{"version":2,"builds":[]}', 'one of 1'],
    ['no files', textOf([], { files: undefined }), 'files: expected a list'],
    ['an id with a path', textOf([], { id: '../../../../x' }), 'hexadecimal digits'],
    ['a path out of the folder', textOf([{ ...file, path: '../a.js' }]), 'segment ".."'],
    ['an absolute path', textOf([{ ...file, path: '/etc/a.js' }]), 'not relative'],
    ['a hidden path', textOf([{ ...file, path: '.serve-dist/a.js' }]), 'dotfiles'],
    ['a NUL', textOf([{ ...file, path: 'a\0.js' }]), 'control character'],
    ['a page', textOf([{ ...file, path: 'index.html' }]), 'a script, style, font, image or wasm file'],
    ['a file without an extension', textOf([{ ...file, path: 'passwd' }]), 'found "passwd"'],
    ['a source map', textOf([{ ...file, path: 'a.js.map' }]), 'found "a.js.map"'],
    ['a service worker', textOf([{ ...file, path: 'sw.js' }]), 'found "sw.js"'],
    ['a negative size', textOf([{ ...file, size: -1 }]), 'a whole number of bytes'],
    ['a digest that is a path', textOf([{ ...file, sha256: '../a' }]), '64 lower-case hexadecimal digits'],
    ['an unknown coding', textOf([{ ...file, variants: [{ coding: 'x', size: 1, sha256 }] }]), 'coding'],
    ['a time with a fraction', textOf([], { superseded: '2026-01-31T12:00:00.5Z' }), 'a date'],
    ['a path twice', textOf([file, file]), 'occurs twice'],
    ['a coding twice', textOf([{ ...file, variants: [...file.variants, ...file.variants] }]), 'occurs twice'],
    [
      'a digest with two sizes',
      textOf([file, { ...file, path: 'assets/b-1.js', size: 2 }]),
      'assets/b-1.js: a digest has two sizes',
    ],
    [
      'a long path',
      textOf([{ ...file, path: `assets/${'é'.repeat(2045)}.js` }]),
      'a path of at most 4096 bytes',
    ],
    ['many lists', `[${'[],'.repeat(400_000)}0]`, 'at most 240000 objects'],
    ['deep lists', '['.repeat(1_000_000), 'at most 240000 objects'],
    ['many fields', `{${'"a":1,'.repeat(400_000)}"b":1}`, 'at most 240000 objects'],
  ])('rejects %s', (_what, text, message) => {
    expect(() => parseKeptList(text)).toThrow(message)
  })

  test('reports one of a million problems', () => {
    const text = JSON.stringify({ version: 1, builds: Array.from({ length: 1_000_000 }, () => 1) })
    expect(() => parseKeptList(text)).toThrow(/^\$\.builds\[0\]: expected an object, found 1$/)
  })
})
