import { describe, expect, test } from 'vitest'
import { createAskedNames, type EmittedAsset } from './asked-names.ts'

const logo: EmittedAsset = { names: ['logo.svg', 'mark.svg'], source: 'logo' }

describe('createAskedNames', () => {
  test('answers as the output would and keeps what was asked', () => {
    const asked = createAskedNames()
    const assetFileNames = asked.record('assets/[name]-[hash].[ext]')
    expect(assetFileNames(logo)).toBe('assets/[name]-[hash].[ext]')
    for (const name of logo.names) {
      expect([...asked.patternsOf(name).keys()]).toEqual(['assets/[name]-[hash].[ext]'])
    }
    expect(asked.patternsOf('other.svg').size).toBe(0)
  })

  test('counts the contents, and each once', () => {
    const asked = createAskedNames()
    const assetFileNames = asked.record('[hash]')
    for (const source of ['logo', new TextEncoder().encode('logo'), 'another']) {
      assetFileNames({ ...logo, source })
    }
    expect(asked.patternsOf('logo.svg').get('[hash]')?.size).toBe(2)
  })

  test("calls the user's function as the bundler would", () => {
    const output = { calls: [] as unknown[] }
    function byUser(this: unknown, ...parameters: [EmittedAsset]): string {
      output.calls.push([this, ...parameters])
      return '[name].[ext]'
    }
    const assetFileNames = createAskedNames().record(byUser)
    expect(assetFileNames.call(output, logo)).toBe('[name].[ext]')
    expect(output.calls).toEqual([[output, logo]])
  })

  test('keeps nothing when that function fails', () => {
    const asked = createAskedNames()
    const failing = asked.record(() => {
      throw new Error('by the user')
    })
    expect(() => failing(logo)).toThrow('by the user')
    expect(asked.patternsOf('logo.svg').size).toBe(0)
  })

  test('stands for the default of the bundlers where nothing is set', () => {
    expect(createAskedNames().record(undefined)(logo)).toBe('assets/[name]-[hash][extname]')
  })
})
