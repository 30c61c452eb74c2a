import { describe, expect, test } from 'vitest'
import { isInlineWorker, policyNeeds } from './policy-needs.ts'

test.each([
  ['/src/w.js?worker&inline', true],
  ['/src/w.js?inline&worker', true],
  ['/src/w.js?worker', false],
  ['/src/w.css?inline', false],
  // A `data:` URL.
  ['/src/w.js?sharedworker&inline', false],
])('isInlineWorker(%j) is %s', (id, expected) => {
  expect(isInlineWorker(id)).toBe(expected)
})

describe('policyNeeds', () => {
  test('are none of a build with its own base, whose workers are files', () => {
    for (const base of ['/', './', '/app/', ''])
      expect(policyNeeds({ base, root: '/project' }, [])).toEqual([])
  })

  test('name blob: for each inline worker, once', () => {
    const id = '/project/src/w.js?worker&inline'
    const reason = 'the inline worker src/w.js?worker&inline'
    expect(policyNeeds({ base: '/', root: '/project' }, [id, id])).toEqual([
      { directive: 'worker-src', source: "'self'", reason },
      { directive: 'worker-src', source: 'blob:', reason },
    ])
  })

  test.each([
    ['https://cdn.example/app/', 'https://cdn.example'],
    ['http://cdn.example:8080/', 'http://cdn.example:8080'],
    ['//cdn.example/app/', 'cdn.example'],
  ])('name the origin of the base %s', (base, origin) => {
    const needs = policyNeeds({ base, root: '/project' }, [])
    expect(needs).toContainEqual({
      directive: 'script-src',
      source: origin,
      reason: `Vite's base is ${base}`,
    })
    expect(new Set(needs.map(({ source }) => source))).toEqual(new Set(["'self'", origin]))
  })
})
