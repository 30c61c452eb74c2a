import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Exchange } from './exchange.ts'
import { observeRefusals } from './observe-refusals.ts'

/** What observers are told of a connection on which so many bytes had come. */
function toldOf(failure: Error, bytesRead: number): Exchange[] {
  const told: Exchange[] = []
  const socket = Object.defineProperty(new Socket(), 'bytesRead', { value: bytesRead })
  observeRefusals([{ end: (exchange) => told.push(exchange) }], () => 'somebody')(socket, failure)
  return told
}

const withCode = (code: unknown): Error => Object.assign(new Error('refused'), { code })

describe('observeRefusals', () => {
  test.each([
    ['HPE_INVALID_METHOD', 400],
    ['ERR_HTTP_REQUEST_TIMEOUT', 408],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
    ['HPE_HEADER_OVERFLOW', 431],
  ])('tells %s as the %i that was answered', (code, status) => {
    expect(toldOf(withCode(code), 5)).toEqual([
      expect.objectContaining({ status, error: code, address: 'somebody' }),
    ])
  })

  test('is silent about a connection on which nothing came', () => {
    expect(toldOf(withCode('ERR_HTTP_REQUEST_TIMEOUT'), 0)).toEqual([])
  })

  test.each([
    ['of the connection', withCode('ECONNRESET')],
    ['without a code', new Error('gone')],
    ['with a number, as DOMException has it', new DOMException('late', 'TimeoutError')],
    ['with another code that is no text', withCode(null)],
  ])('is silent about an error %s', (_what, error) => {
    expect(toldOf(error, 5)).toEqual([])
  })
})
