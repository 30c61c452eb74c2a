import type { Socket } from 'node:net'
import type { Exchange } from './exchange.ts'
import type { RequestObserver } from './observe-requests.ts'
import { statusOfParseError } from './status-of-parse-error.ts'

/**
 * Makes a function that tells observers of what was refused before there was a request: what is no HTTP, a head that is
 * too large, one that does not come to its end.
 *
 * @param addressOf - of the client; `''` where nobody asks for it.
 */
export function observeRefusals(
  observers: readonly RequestObserver[],
  addressOf: (socket: Socket) => string,
): (socket: Socket, failure: Error & { readonly code?: unknown }) => void {
  return (socket, failure) => {
    const status = statusOfParseError(failure)
    // Browsers open connections ahead, and balancers look whether somebody listens.
    if (status === undefined || socket.bytesRead === 0) return
    const exchange = unreadExchange({ status, error: String(failure.code), address: addressOf(socket) })
    for (const { begin, end } of observers) {
      begin?.()
      end(exchange)
    }
  }
}

function unreadExchange(known: Pick<Exchange, 'status' | 'error' | 'address'>): Exchange {
  return {
    request: { method: undefined, url: undefined, httpVersion: '', rawHeaders: [] },
    coding: 'identity',
    cache: 'other',
    bytes: 0,
    savedBytes: 0,
    milliseconds: undefined,
    isAborted: false,
    ...known,
  }
}
