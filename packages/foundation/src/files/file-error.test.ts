import { open } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { reasonOf } from './file-error.ts'

describe('reasonOf', () => {
  test('removes the path from a file system error', async () => {
    const error: unknown = await open('/no/such/file, really').catch((thrown: unknown) => thrown)
    expect(reasonOf(error)).toBe('ENOENT: no such file or directory')
    expect(reasonOf(structuredClone(error))).toBe('ENOENT: no such file or directory')
  })

  test('keeps the message of other errors', () => {
    expect(reasonOf(new Error('expected no warnings, please'))).toBe('expected no warnings, please')
  })

  test('converts other values to text', () => {
    expect(reasonOf('stopped, early')).toBe('stopped, early')
  })
})
