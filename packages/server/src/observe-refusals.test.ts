import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Exchange } from './exchange.ts'
import { observeRefusals } from './observe-refusals.ts'

/** What observers are told when the socket of a connection fails. */
function toldOf(error: unknown): Exchange[] {
  const told: Exchange[] = []
  const socket = new Socket()
  observeRefusals([{ end: (exchange) => told.push(exchange) }], () => 'somebody')(socket)
  socket.emit('error', error)
  return told
}

describe('observeRefusals', () => {
  test.each([
    ['HPE_INVALID_METHOD', 400],
    ['HPE_HEADER_OVERFLOW', 431],
  ])('tells %s as the %i that Node answers', (code, status) => {
    expect(toldOf(Object.assign(new Error('refused'), { code }))).toEqual([
      expect.objectContaining({ status, error: code, address: 'somebody' }),
    ])
  })

  test.each([
    ['of the connection', Object.assign(new Error('gone'), { code: 'ECONNRESET' })],
    ['without a code', new Error('gone')],
    ['with a number, as DOMException has it', new DOMException('late', 'TimeoutError')],
    ['with another code that is no text', Object.assign(new Error('odd'), { code: null })],
    ['that is no error', undefined],
  ])('is silent about an error %s', (_what, error) => {
    expect(toldOf(error)).toEqual([])
  })
})
