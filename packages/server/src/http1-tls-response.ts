import { type IncomingMessage, ServerResponse } from 'node:http'
import { wantsSlices, writeSlices } from './write-slices.ts'

/** An answer over HTTP/1.1 and TLS. */
export class Http1TlsResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override end(...given: readonly unknown[]): this {
    const [body] = given
    if (wantsSlices(body)) {
      writeSlices(body, {
        write: (slice, done) => void this.write(slice, done),
        end: (slice) => void super.end(slice),
      })
    } else {
      // oxlint-disable-next-line typescript/unbound-method -- bound right here
      Reflect.apply(super.end, this, given)
    }
    return this
  }
}
