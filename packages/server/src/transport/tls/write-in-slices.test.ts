import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { reserveMemory } from '../../send/reserve-memory.ts'
import { Http1TlsResponse } from './http1-tls-response.ts'

describe('writeInSlices', () => {
  test('releases the memory of answers whose client has disconnected earlier', async () => {
    const body = Buffer.alloc(100_000)
    for (let count = 0; count < 600; count += 1) {
      const response = new Http1TlsResponse(new IncomingMessage(new Socket()))
      response.destroy().emit('close')
      const error = await new Promise((resolve) => response.end(body, resolve))
      expect(error).toHaveProperty('code', 'ERR_STREAM_DESTROYED')
    }
    const share = reserveMemory(48 * 1024)
    expect(share.bytes).toBe(48 * 1024)
    share.release()
  })
})
