import { expect } from 'vitest'
import type { RawResponse } from './parse-response.ts'
import { type RawRequest, rawRequest } from './raw-request.ts'

/**
 * Sends a request twice and expects the same response. The native engine relays the first request with new
 * values of `Host` or `Accept-Encoding` to Node, and answers the second one from its table.
 */
export async function requestTwice(port: number, request: RawRequest = {}): Promise<RawResponse> {
  const first = await rawRequest(port, request)
  const second = await rawRequest(port, request)
  expect(describeResponse(second)).toEqual(describeResponse(first))
  return second
}

function describeResponse({ status, fields, body }: RawResponse): unknown {
  const kept = fields.filter(([name]) => name !== 'Date')
  return { status, fields: kept, body: body.toString('latin1') }
}
