import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { OperatorError } from './operator-error.ts'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

describe('OperatorError', () => {
  test('has a code and one line of the message per problem', () => {
    const error = new OperatorError('SD_OPTION_INVALID', ['port: expected a number', 'host: expected a text'])
    expect(error).toMatchObject({
      name: 'OperatorError',
      code: 'SD_OPTION_INVALID',
      message: 'port: expected a number\nhost: expected a text',
      problems: ['port: expected a number', 'host: expected a text'],
    })
  })

  test('accepts a single problem and keeps the cause', () => {
    const cause = new Error('EADDRINUSE')
    const error = new OperatorError('SD_LISTEN_FAILED', 'port 80 is in use', { cause })
    expect([error.problems, error.cause]).toEqual([['port 80 is in use'], cause])
  })

  test('indents problems below a heading', () => {
    const error = new OperatorError('SD_TLS_UNUSABLE', ['a', 'b'], { heading: 'cannot enable TLS:' })
    expect([error.message, error.problems]).toEqual(['cannot enable TLS:\n  a\n  b', ['a', 'b']])
  })

  test('has exactly the codes of docs/errors.md', () => {
    const codes = [...read('./operator-error.ts').matchAll(/^ {2}\| '(SD_\w+)'$/gm)].map(([, code]) => code)
    const cures = [...read('../../../docs/errors.md').matchAll(/^### (SD_\w+)$/gm)].map(([, code]) => code)
    expect(codes.length).toBeGreaterThan(10)
    expect(cures.toSorted()).toEqual(codes.toSorted())
  })
})
