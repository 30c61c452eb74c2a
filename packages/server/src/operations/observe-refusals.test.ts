import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Exchange } from './exchange.ts'
import { observeRefusals } from './observe-refusals.ts'

/** Returns the reports about a connection that received some bytes. */
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
  ])('reports %s with the status %i', (code, status) => {
    expect(toldOf(withCode(code), 5)).toEqual([
      expect.objectContaining({ status, error: code, address: 'somebody' }),
    ])
  })

  test('ignores a connection that received no bytes', () => {
    expect(toldOf(withCode('ERR_HTTP_REQUEST_TIMEOUT'), 0)).toEqual([])
  })

  test.each([
    ['of the connection', withCode('ECONNRESET')],
    ['without a code', new Error('gone')],
    ['with a number, such as a DOMException', new DOMException('late', 'TimeoutError')],
    ['with a code that is not a string', withCode(null)],
  ])('ignores an error %s', (_what, error) => {
    expect(toldOf(error, 5)).toEqual([])
  })
})
