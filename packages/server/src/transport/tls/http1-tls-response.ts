import { type IncomingMessage, ServerResponse } from 'node:http'
import { actAfterSlices, isBeingSliced, tellEndOfSlices, wantsSlices, writeSlices } from './write-slices.ts'

/** An answer over HTTP/1.1 and TLS. */
export class Http1TlsResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override write(...given: readonly unknown[]): boolean {
    if (!isBeingSliced(this)) return writeAsNode(this, given)
    actAfterSlices(this, () => writeAsNode(this, given))
    return false
  }

  override end(...given: readonly unknown[]): this {
    const body = given[0]
    if (isBeingSliced(this)) {
      actAfterSlices(this, () => endAsNode(this, given))
    } else if (wantsSlices(body)) {
      writeSlices(this, body, {
        write: (slice, done) => void writeAsNode(this, [slice, done]),
        end: (slice) => endAsNode(this, [slice, ...given.slice(1)]),
      })
    } else {
      endAsNode(this, given)
    }
    return this
  }
}

tellEndOfSlices(Http1TlsResponse.prototype)

function writeAsNode(response: ServerResponse, given: readonly unknown[]): boolean {
  // oxlint-disable-next-line typescript/unbound-method -- bound right here
  return Reflect.apply(ServerResponse.prototype.write, response, given)
}

function endAsNode(response: ServerResponse, given: readonly unknown[]): void {
  // oxlint-disable-next-line typescript/unbound-method -- bound right here
  Reflect.apply(ServerResponse.prototype.end, response, given)
}
