import type { Socket } from 'node:net'
import { refusedExchange } from './exchange.ts'
import type { RequestObserver } from './observe-requests.ts'
import { observationOf } from '../send/observation.ts'
import { statusOfParseError } from '../protocol/status-of-parse-error.ts'
import type { TransportWatcher } from '../transport/transport.ts'

/**
 * Creates a function that reports refused requests to observers: malformed HTTP, and heads that are too
 * large or incomplete. If the server refuses a body, the observers of its request report it.
 *
 * @param addressOf - returns the client's address, or `''` if it is not needed.
 */
export function observeRefusals(
  observers: readonly RequestObserver[],
  addressOf: (socket: Socket) => string,
): TransportWatcher['noteRefusal'] {
  return (socket, failure: Error & { readonly code?: unknown }, response) => {
    const status = statusOfParseError(failure)
    // Browsers open connections in advance, and load balancers only check the port.
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
