import type { Plugin } from 'vite'
import { describe, expect, test } from 'vitest'
import { type InstanceMark, findOrderProblems, findActiveInstance } from './instances.ts'

const own = instance()
const post = { order: 'post', handler: () => {} } as const

function instance(framework?: string): Plugin & { readonly api: InstanceMark } {
  return {
    name: 'serve-dist',
    api: { serveDist: { instance: Symbol('serve-dist'), framework, finish: async () => {} } },
  }
}

describe('findActiveInstance', () => {
  test('is the first one, by its mark, in a clone of the plugin too', () => {
    const clone = { ...own, api: structuredCloneOf(own.api) }
    expect(findActiveInstance([{ name: 'other', api: 'x' }, clone, instance()])?.instance).toBe(
      own.api.serveDist.instance,
    )
    expect(findActiveInstance([{ name: 'other' }])).toBeUndefined()
  })

  test('is that of an integration before all others', () => {
    const ofAstro = instance('astro')
    expect(findActiveInstance([own, ofAstro])).toBe(ofAstro.api.serveDist)
  })
})

/** A deep clone, as libraries make them, which keep symbols. */
function structuredCloneOf({ serveDist }: InstanceMark): InstanceMark {
  return { serveDist: { ...serveDist } }
}

function problemsAmong(plugins: Plugin[]): string[] {
  return findOrderProblems(plugins, own.api.serveDist)
}

describe('findOrderProblems', () => {
  test('are none where no later plugin finishes after this one', () => {
    expect(
      problemsAmong([
        { name: 'before', closeBundle: post },
        own,
        { name: 'behind', closeBundle: () => {} },
        { name: 'ordered', closeBundle: { order: 'pre', handler: () => {} } },
      ]),
    ).toEqual([])
  })

  test.each(['closeBundle', 'buildApp'])('name a plugin that finishes later in %s', (hook) => {
    const problems = problemsAmong([own, { name: 'late', [hook]: post }])
    expect(problems).toEqual([expect.stringContaining(`"late" comes later and finishes in ${hook} too`)])
  })

  test('name a second instance once, and a clone of the first one not', () => {
    expect(problemsAmong([own, instance(), instance()])).toEqual([expect.stringContaining('more than once')])
    expect(problemsAmong([own, { ...own }])).toEqual([])
  })
})
