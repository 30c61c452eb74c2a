import { describe, expect, test } from 'vitest'
import { announcerStyle, isInlineWorker, policyNeeds } from './policy-needs.ts'

test.each([
  ['/src/w.js?worker&inline', true],
  ['/src/w.js?inline&worker', true],
  ['/src/w.js?worker', false],
  ['/src/w.css?inline', false],
  // This becomes a `data:` URL.
  ['/src/w.js?sharedworker&inline', false],
])('isInlineWorker(%j) is %s', (id, expected) => {
  expect(isInlineWorker(id)).toBe(expected)
})

const none = { inlineWorkers: [], announcers: [] }

describe('policyNeeds', () => {
  test('returns nothing for a build with its own base and workers in files', () => {
    for (const base of ['/', './', '/app/', ''])
      expect(policyNeeds({ base, root: '/project' }, none)).toEqual([])
  })

  test('returns blob: once for each inline worker', () => {
    const id = '/project/src/w.js?worker&inline'
    const reason = 'the inline worker src/w.js?worker&inline'
    expect(policyNeeds({ base: '/', root: '/project' }, { ...none, inlineWorkers: [id, id] })).toEqual([
      { directive: 'worker-src', source: "'self'", reason },
      { directive: 'worker-src', source: 'blob:', reason },
    ])
  })

  test("returns the style of SvelteKit's announcer", () => {
    const code = '`<div id="svelte-announcer" aria-live="assertive" style="width: 1px"><!></div>`'
    const style = announcerStyle(code) ?? ''
    expect(style).toBe('width: 1px')
    const reason = "SvelteKit's announcer of pages"
    expect(policyNeeds({ base: '/', root: '/project' }, { ...none, announcers: [style, style] })).toEqual([
      { directive: 'style-src-attr', source: "'unsafe-hashes'", reason },
      {
        directive: 'style-src-attr',
        source: "'sha256-dbjbgUzXX4IMINu4Z+5JYjAaOvf4p/ShPMHvXfTRa80='",
        reason,
      },
    ])
    expect(announcerStyle('<div id="other" style="width: 1px">')).toBeUndefined()
  })

  test.each([
    ['https://cdn.example/app/', 'https://cdn.example'],
    ['http://cdn.example:8080/', 'http://cdn.example:8080'],
    ['//cdn.example/app/', 'cdn.example'],
  ])('returns the origin of the base %s', (base, origin) => {
    const needs = policyNeeds({ base, root: '/project' }, none)
    expect(needs).toContainEqual({
      directive: 'script-src',
      source: origin,
      reason: `Vite's base is ${base}`,
    })
    expect(new Set(needs.map(({ source }) => source))).toEqual(new Set(["'self'", origin]))
  })
})
