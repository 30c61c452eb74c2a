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
  test('returns the first instance, also in a clone of the plugin', () => {
    const clone = { ...own, api: structuredCloneOf(own.api) }
    expect(findActiveInstance([{ name: 'other', api: 'x' }, clone, instance()])?.instance).toBe(
      own.api.serveDist.instance,
    )
    expect(findActiveInstance([{ name: 'other' }])).toBeUndefined()
  })

  test('prefers the instance of an integration', () => {
    const ofAstro = instance('astro')
    expect(findActiveInstance([own, ofAstro])).toBe(ofAstro.api.serveDist)
  })
})

/** Clones deeply and keeps symbols, like libraries do. */
function structuredCloneOf({ serveDist }: InstanceMark): InstanceMark {
  return { serveDist: { ...serveDist } }
}

function problemsAmong(plugins: Plugin[]): string[] {
  return findOrderProblems(plugins, own.api.serveDist)
}

describe('findOrderProblems', () => {
  test('returns nothing if no later plugin finishes after this one', () => {
    expect(
      problemsAmong([
        { name: 'before', closeBundle: post },
        own,
        { name: 'behind', closeBundle: () => {} },
        { name: 'ordered', closeBundle: { order: 'pre', handler: () => {} } },
      ]),
    ).toEqual([])
  })

  test.each(['closeBundle', 'buildApp'])('names a plugin that finishes later in %s', (hook) => {
    const problems = problemsAmong([own, { name: 'late', [hook]: post }])
    expect(problems).toEqual([expect.stringContaining(`"late" runs after serveDist() in ${hook}, so`)])
  })

  test('names a plugin to remove, because it also compresses', () => {
    const names = [
      'vite:compression',
      'vite-plugin-compression',
      'vite-plugin-compression',
      'gzip',
      'vite:css',
    ]
    const packages = ['vite-plugin-compression', 'vite-plugin-compression2', 'rollup-plugin-gzip']
    expect(problemsAmong([...names.map((name) => ({ name })), own])).toEqual(
      packages.map((name) => expect.stringContaining(`] ${name} compresses this build, too. Remove it`)),
    )
  })

  test('reports a second instance once, but not a clone', () => {
    expect(problemsAmong([own, instance(), instance()])).toEqual([expect.stringContaining('more than once')])
    expect(problemsAmong([own, { ...own }])).toEqual([])
  })
})
