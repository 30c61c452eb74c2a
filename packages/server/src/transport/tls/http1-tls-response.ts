import { type IncomingMessage, ServerResponse } from 'node:http'
import { callAs, markEnded, refuseLateWrite } from '../../send/intercept.ts'
import { isBeingSliced, sliceSize, writeInSlices } from './write-in-slices.ts'

/** An answer over HTTP/1.1 and TLS. */
export class Http1TlsResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override write(...given: readonly unknown[]): boolean {
    if (!isBeingSliced(this)) return callAs(ServerResponse.prototype, 'write', this, given) === true
    refuseLateWrite(this, given)
    return false
  }

  override end(...given: readonly unknown[]): this {
    writeInSlices(this, ['end', ...given], {
      call: (method, ...slice) => callAs(ServerResponse.prototype, method, this, slice),
      size: sliceSize,
      room: () => sliceSize,
    })
    return this
  }
}

markEnded(Http1TlsResponse.prototype, isBeingSliced)
