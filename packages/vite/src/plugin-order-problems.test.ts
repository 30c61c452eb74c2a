import type { Plugin } from 'vite'
import { describe, expect, test } from 'vitest'
import { pluginOrderProblems } from './plugin-order-problems.ts'

const ours: Plugin = { name: 'serve-dist' }
const early: Plugin = { name: 'early', closeBundle() {} }
const late: Plugin = { name: 'late', closeBundle: { order: 'post', handler() {} } }

describe('pluginOrderProblems', () => {
  test('finds none when every later plugin finishes earlier', () => {
    expect(pluginOrderProblems(ours, [late, ours, early])).toEqual([])
  })

  test('names a plugin that finishes after us', () => {
    expect(pluginOrderProblems(ours, [ours, late])).toEqual([expect.stringContaining('"late"')])
  })

  test('names one that writes after us at the end of the application', () => {
    const app: Plugin = { name: 'app', buildApp: { order: 'post', async handler() {} } }
    expect(pluginOrderProblems(ours, [app, ours])).toEqual([])
    expect(pluginOrderProblems(ours, [ours, app])).toEqual([
      expect.stringContaining('"app" comes later and finishes in buildApp'),
    ])
  })

  test('finds a second instance', () => {
    expect(pluginOrderProblems({ ...ours }, [ours, early])).toEqual([
      expect.stringContaining('more than once'),
    ])
  })
})
