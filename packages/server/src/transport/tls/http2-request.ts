import { Http2ServerRequest } from 'node:http2'

/** A request over HTTP/2. */
export class Http2Request extends Http2ServerRequest {
  /** The number of received bytes of the body. */
  received = 0

  /** Node calls this for each chunk of the body. */
  override push(chunk: unknown, coding?: BufferEncoding): boolean {
    if (chunk instanceof Uint8Array) this.received += chunk.length
    return super.push(chunk, coding)
  }
}
