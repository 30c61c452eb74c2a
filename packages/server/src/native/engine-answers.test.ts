import { describe, expect, test } from 'vitest'
import { recordOf } from '../../test/support/native/engine-record.ts'
import { readRecords } from './engine-answers.ts'

describe('readRecords', () => {
  test('reads consecutive records at any offset', () => {
    const log = Buffer.concat([Buffer.from('x'), recordOf('::1', 'GET / HTTP/1.1\r\n\r\n'), recordOf('', '')])
    const [first, second, ...more] = readRecords(log.subarray(1))
    expect(first).toEqual({
      ended: 1_700_000_000_500,
      milliseconds: 250,
      bytes: 7,
      class: 3,
      isAborted: true,
      request: { method: 'GET', url: '/', httpVersion: '1.1', rawHeaders: [] },
      peer: '::1',
    })
    expect([second?.peer, more]).toEqual(['', []])
  })

  test('reads fields like Node, and pseudo-fields of HTTP/2', () => {
    const head =
      'GET /?a HTTP/2.0\r\n:authority: a:1\r\nA:\t b: c \r\nUser-Agent: \u00A0\u00E9\r\nEmpty:\r\n\r\n'
    const [record] = readRecords(recordOf('', head))
    const rawHeaders = [':authority', 'a:1', 'A', 'b: c', 'User-Agent', '\u00A0\u00E9', 'Empty', '']
    expect(record?.request).toEqual({ method: 'GET', url: '/?a', httpVersion: '2.0', rawHeaders })
  })
})
