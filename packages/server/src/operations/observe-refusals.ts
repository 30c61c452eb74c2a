import type { Socket } from 'node:net'
import { refusedExchange } from './exchange.ts'
import type { RequestObserver } from './observe-requests.ts'
import { observationOf } from '../send/observation.ts'
import { statusOfParseError } from '../protocol/status-of-parse-error.ts'
import type { TransportWatcher } from '../transport/transport.ts'

/**
 * Makes a function that tells observers of what was refused before there was a request: what is no HTTP, a head that is
 * too large, one that does not come to its end. Of a refused body they are told with its request, which this was the
 * answer to.
 *
 * @param addressOf - of the client; `''` where nobody asks for it.
 */
export function observeRefusals(
  observers: readonly RequestObserver[],
  addressOf: (socket: Socket) => string,
): TransportWatcher['noteRefusal'] {
  return (socket, failure: Error & { readonly code?: unknown }, response) => {
    const status = statusOfParseError(failure)
    // Browsers open connections ahead, and balancers look whether somebody listens.
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
