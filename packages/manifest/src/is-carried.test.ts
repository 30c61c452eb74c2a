import { expect, test } from 'vitest'
import { isCarried } from './is-carried.ts'

test.each(
  'a.js a.mjs a.css a.woff2 a.ttf a.eot a.svg a.png a.avif a.ico a.wasm assets/sw-DkR2x1zQ.js answers.js'.split(
    ' ',
  ),
)('isCarried accepts %s', (path) => {
  expect(isCarried(path)).toBe(true)
})

test.each(
  [
    'a a.html a.htm a.xhtml a.xml a.json a.webmanifest a.js.map a.mp4 a.pdf a.txt sw.js SW.JS sw.cjs',
    'service-worker.js serviceWorker.mjs app/firebase-messaging-sw.js ngsw-worker.js',
  ].flatMap((paths) => paths.split(' ')),
)('isCarried rejects %s', (path) => {
  expect(isCarried(path)).toBe(false)
})
