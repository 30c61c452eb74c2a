import { describe, expect, test } from 'vitest'
import { mapImport } from './import-map.ts'

const [from, to] = ['https://cdn.example/x/env.js', '/x/env.js']
const map = `<script type="importmap">{"imports":{"${from}":"${to}"}}</script>\n`

describe('mapImport', () => {
  test.each([
    '<script type="module" src="/a.js"></script>',
    '<script crossorigin type=module src="/a.js"></script>',
    '<link rel="modulepreload" href="/b.js"><script type="module" src="/a.js"></script>',
  ])('inserts the map before %s', (loader) => {
    const head = '<head><!-- <script type="module" src="/x.js"></script> --><title>t</title>'
    expect(mapImport(`${head}${loader}</head>`, from, to)).toBe(`${head}${map}${loader}</head>`)
  })

  test('adds an entry to the map of a page, and keeps the rest', () => {
    const own = '{ "integrity": { "/b.js": "sha384-A" }, "imports": { "b": "/b.js" }, "scopes": {} }'
    const page = `<!--<script type="importmap">{</script>--><script id="m" type='importmap'>${own}</script>`
    expect(mapImport(page, from, to)).toBe(
      `<!--<script type="importmap">{</script>--><script id="m" type='importmap'>{"integrity":{"/b.js":"sha384-A"},"imports":{"b":"/b.js","${from}":"${to}"},"scopes":{}}</script>`,
    )
  })

  test('escapes text that would end the script', () => {
    expect(mapImport('<script type="module"></script>', '</script>', '/')).not.toContain('{"</script>')
  })

  test('throws for a map that is not valid JSON', () => {
    expect(() => mapImport('<script type="importmap">{,}</script>', from, to)).toThrow(SyntaxError)
  })
})
