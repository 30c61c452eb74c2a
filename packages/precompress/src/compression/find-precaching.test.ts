import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addFiles, makeFolder } from '../../test/support/make-folder.ts'
import { precompress } from './precompress.ts'
import { findPrecaching } from './find-precaching.ts'

const environment = { path: 'serve-dist-env.js', prefix: '', variables: {} }

test.each([
  ['precacheAndRoute([{url:"serve-dist-env.js",revision:"a1"},{url:"index.html",revision:"b2"}])', true],
  ['self.list = [{"revision":"a1","url":"serve-dist-env.js"}]', true],
  ["[{\n  'url': '/app/serve-dist-env.js',\n  'revision': null }]", true],
  ["caches.addAll(['/', '/serve-dist-env.js', '/app.js'])", true],
  ['caches.addAll([`./serve-dist-env.js?v=1`])', true],
  ['import env from "/serve-dist-env.js"', false],
  ['[{url:"another-serve-dist-env.js"}, {url:"serve-dist-envijs"}]', false],
  ['fetch("serve-dist-env.js")', false],
  ['f(a, "serve-dist-env.js")', false],
  // Vite's list of preloaded files.
  ['__vite__mapDeps=(i,m=__vite__mapDeps,d=(m.f||(m.f=["./lazy.js","./serve-dist-env.js"])))=>1', false],
])('findPrecaching returns for %j: %s', async (text, isFound) => {
  const folder = await makeFolder({})
  await addFiles(folder, { 'sw.js': text, 'serve-dist-env.js': 'export default {}' })
  const { manifest } = await precompress(join(folder), { environment, cache: false, durable: false })
  expect(await findPrecaching(folder, manifest)).toEqual(isFound ? ['sw.js'] : [])
})
