import { open } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { describeUnreadable, reasonOf } from './file-error.ts'

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

test('an unreadable file has the remedy for its error', () => {
  const denied = Object.assign(new Error("EACCES: permission denied, open '/a'"), { code: 'EACCES' })
  expect(describeUnreadable(denied)).toBe(
    'cannot read this file (EACCES: permission denied). Let this user read it and its folders: chmod -R a+rX',
  )
  expect(describeUnreadable(new Error('it is not a file'))).toBe(
    'cannot read this file (it is not a file). Replace it with a file.',
  )
})
