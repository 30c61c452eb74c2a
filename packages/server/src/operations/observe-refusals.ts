import type { Socket } from 'node:net'
import { refusedExchange } from './exchange.ts'
import type { RequestObserver } from './observe-requests.ts'
import { observationOf } from '../send/observation.ts'
import { statusOfParseError } from '../protocol/status-of-parse-error.ts'
import type { TransportWatcher } from '../transport/transport.ts'

/**
 * Makes a function that reports refusals to observers: bytes that are no HTTP, a head that is too large or never ends.
 * A refused body is part of its request's own exchange.
 *
 * @param addressOf - the client's address; `''` where nobody needs it.
 */
export function observeRefusals(
  observers: readonly RequestObserver[],
  addressOf: (socket: Socket) => string,
): TransportWatcher['noteRefusal'] {
  return (socket, failure: Error & { readonly code?: unknown }, response) => {
    const status = statusOfParseError(failure)
    // Browsers open connections ahead, and load balancers only check that somebody listens.
    if (status === undefined || socket.bytesRead === 0) return
    const refusal = { status, error: String(failure.code) }
    if (response !== undefined) {
      const noted = observationOf(response)
      if (noted !== undefined) noted.refusal = refusal
      return
    }
    const exchange = { ...refusedExchange, ...refusal, address: addressOf(socket) }
    for (const { begin, end } of observers) {
      begin?.()
      end(exchange)
    }
  }
}
