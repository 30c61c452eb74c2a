import { describe, expect, test } from 'vitest'
import { parseOpsAddress } from './add-operations-options.ts'

describe('parseOpsAddress', () => {
  test.each([
    ['127.0.0.1:9090', '127.0.0.1', 9090],
    ['localhost:0', 'localhost', 0],
    ['[::1]:9090', '::1', 9090],
    [':9090', '*', 9090],
    ['*:9090', '*', 9090],
    ['9090', '127.0.0.1', 9090],
  ])('%s', (text, host, port) => {
    expect(parseOpsAddress(text)).toEqual({ host, port })
  })

  test.each(['', 'localhost', '127.0.0.1:', '127.0.0.1:65536', '::1:9090', '[::1]', 'http://a:90', '[]:9'])(
    'refuses %j',
    (text) => {
      expect(() => parseOpsAddress(text)).toThrow('expected host:port')
    },
  )
})
