import { expect, test } from 'vitest'
import { hasIntegrity } from './integrity-plugin.ts'

const script = '<script type="module" src="/a.js" integrity="sha384-x"></script>'

test.each([
  ['<link rel="modulepreload"\n href="/app/env.js"\n integrity="sha384-x">', true],
  ['<script type="importmap">{"integrity":{"./env.js": "sha256-x"}}</script>', true],
  [`<link rel="modulepreload" crossorigin href="/env.js">${script}`, false],
  [
    '<script type="importmap">{"imports":{"https://x/env.js":"/env.js"},"integrity":{"/a.js":"sha256-x"}}</script>',
    false,
  ],
])('hasIntegrity of %s: %s', (html, expected) => {
  expect(hasIntegrity(html, 'env.js')).toBe(expected)
})
