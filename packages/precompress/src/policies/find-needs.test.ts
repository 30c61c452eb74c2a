import { describe, expect, test } from 'vitest'
import { makeFolder } from '../../test/support/make-folder.ts'
import { describeFile } from '../folder/describe-file.ts'
import { findNeeds } from './find-needs.ts'

async function needsOf(path: string, text: string): Promise<string[]> {
  const folder = await makeFolder({ [path]: text })
  const needs = await findNeeds(folder, [await describeFile(folder, path)])
  return needs.map(({ directive, source, reason }) => `${directive} ${source}: ${reason}`)
}

const blob = ["worker-src 'self'", 'worker-src blob:'].map(
  (need) => `${need}: a.js starts a worker from a blob: URL`,
)
const data = ["worker-src 'self'", 'worker-src data:'].map(
  (need) => `${need}: a.js starts a worker from a data: URL`,
)

describe('findNeeds', () => {
  test.each<readonly [string, string, readonly string[]]>([
    ['a.wasm', '\0asm', ["script-src 'wasm-unsafe-eval': a.wasm is WebAssembly"]],
    [
      'a.js',
      'fetch("data:application/wasm;base64,AA")',
      ["script-src 'wasm-unsafe-eval': a.js holds WebAssembly"],
    ],
    [
      'a.html',
      '<audio src="data:audio/wav;base64,AA">',
      ["media-src 'self': a.html holds media", 'media-src data:: a.html holds media'],
    ],
    // Output of Vite 6, 7 and 8, with and without minification.
    [
      'a.js',
      'try{if(n=a&&(self.URL||self.webkitURL).createObjectURL(a),!n)throw"";const s=new Worker(n,{name:t==null?void 0:t.name});',
      blob,
    ],
    [
      'a.js',
      'try{if(r=t&&(self.URL||self.webkitURL).createObjectURL(t),!r)throw``;let e=new Worker(r,{name:n?.name});',
      blob,
    ],
    [
      'a.js',
      'objURL = blob && (self.URL || self.webkitURL).createObjectURL(blob);\n    if (!objURL) throw "";\n    const worker = new Worker(objURL, {',
      blob,
    ],
    ['a.js', 'function i(e){return new SharedWorker(`data:text/javascript;charset=utf-8,`+r)}', data],
    ['a.js', 'new Worker(URL.createObjectURL(new Blob(["1"])))', blob],
    ['a.js', 'link.href = URL.createObjectURL(file); new Worker("/w.js")', []],
    ['a.js', 'new Worker(new URL("/w.js", import.meta.url))', []],
    ['a.css', 'a{background:url(data:image/png;base64,AA)}', []],
  ])('finds the needs of %s: %s', async (path, text, expected) => {
    expect(await needsOf(path, text)).toEqual(expected)
  })
})
