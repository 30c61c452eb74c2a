import { Http2ServerRequest } from 'node:http2'

/** A request over HTTP/2. */
export class Http2Request extends Http2ServerRequest {
  /** Bytes of its body that somebody has read. */
  received = 0

  /** Node calls it with each piece of the body. */
  override push(chunk: unknown, coding?: BufferEncoding): boolean {
    if (chunk instanceof Uint8Array) this.received += chunk.length
    return super.push(chunk, coding)
  }
}
