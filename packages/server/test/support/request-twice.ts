import { expect } from 'vitest'
import type { RawResponse } from './parse-response.ts'
import { type RawRequest, rawRequest } from './raw-request.ts'

/**
 * Sends a request twice and expects the same response. The native engine relays the first request with new
 * values of `Host` or `Accept-Encoding` to Node, and answers the second one from its table.
 *
 * @param ask - sends a request. The default is HTTP/1.1 over TCP.
 */
export async function requestTwice(
  port: number,
  request: RawRequest = {},
  ask: (port: number, request: RawRequest) => Promise<RawResponse> = rawRequest,
): Promise<RawResponse> {
  const first = await ask(port, request)
  const second = await ask(port, request)
  expect(describeResponse(second)).toEqual(describeResponse(first))
  return second
}

function describeResponse({ status, fields, body }: RawResponse): unknown {
  const kept = fields.filter(([name]) => name.toLowerCase() !== 'date')
  return { status, fields: kept, body: body.toString('latin1') }
}
