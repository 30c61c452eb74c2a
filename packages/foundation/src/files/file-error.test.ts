import { open } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { reasonOf } from './file-error.ts'

describe('reasonOf', () => {
  test('leaves out the path of an error of the file system', async () => {
    const error: unknown = await open('/no/such/file, really').catch((thrown: unknown) => thrown)
    expect(reasonOf(error)).toBe('ENOENT: no such file or directory')
    expect(reasonOf(structuredClone(error))).toBe('ENOENT: no such file or directory')
  })

  test('keeps all words of any other error', () => {
    expect(reasonOf(new Error('expected no warnings, please'))).toBe('expected no warnings, please')
  })

  test('shows what is no error', () => {
    expect(reasonOf('stopped, early')).toBe('stopped, early')
  })
})
