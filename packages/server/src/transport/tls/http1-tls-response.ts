import { type IncomingMessage, ServerResponse } from 'node:http'
import { callMethodOf, markEnded, rejectWriteAfterEnd } from '../../send/intercept.ts'
import { isEndedWithPendingSlices, sliceSize, writeInSlices } from './write-in-slices.ts'

/** A response over HTTP/1.1 and TLS. */
export class Http1TlsResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override write(...given: readonly unknown[]): boolean {
    if (!isEndedWithPendingSlices(this))
      return callMethodOf(ServerResponse.prototype, 'write', this, given) === true
    rejectWriteAfterEnd(this, given)
    return false
  }

  override end(...given: readonly unknown[]): this {
    writeInSlices(this, ['end', ...given], {
      call: (method, ...slice) => callMethodOf(ServerResponse.prototype, method, this, slice),
      size: sliceSize,
      room: () => sliceSize,
    })
    return this
  }
}

markEnded(Http1TlsResponse.prototype, isEndedWithPendingSlices)
