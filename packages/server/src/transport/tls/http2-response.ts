import { constants, type Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { connectionLimits } from '../../protocol/connection-limits.ts'
import { callAs, markEnded, refuseLateWrite } from '../../send/intercept.ts'
import { endInSlices, isBeingSliced } from './end-in-slices.ts'

/** An answer over HTTP/2. */
export class Http2Response<
  Request extends Http2ServerRequest = Http2ServerRequest,
> extends Http2ServerResponse<Request> {
  /** Milliseconds that its client may stall. */
  stallTimeout: number = connectionLimits.socketTimeout
  #deadline: NodeJS.Timeout | undefined

  override write(...given: readonly unknown[]): boolean {
    if (!wasEnded(this)) return callAs(Http2ServerResponse.prototype, 'write', this, given) === true
    // Node would give up what it was ended with.
    refuseLateWrite(this, given)
    return false
  }

  override end(...given: readonly unknown[]): this {
    endInSlices(this, given, (method, ...slice) => {
      this.#postponeDeadline()
      callAs(Http2ServerResponse.prototype, method, this, slice)
    })
    return this
  }

  /** A stream may stall while its session goes on: Node's own time limits look at the session alone. */
  #postponeDeadline(): void {
    if (this.#deadline !== undefined) {
      this.#deadline.refresh()
    } else if (!this.stream.destroyed) {
      const deadline = setTimeout(
        () => this.stream.close(constants.NGHTTP2_CANCEL),
        this.stallTimeout,
      ).unref()
      this.#deadline = deadline
      this.once('close', () => clearTimeout(deadline))
    }
  }

  /** Without a code Node would say that all went well (RFC 9113 §7), and a part could be taken for the whole. */
  override destroy(error?: Error): this {
    this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    super.destroy(error)
    return this
  }

  /** RFC 9113 §8.2.2: fields about the connection, which an application for HTTP/1.1 may set, are left out. */
  override setHeader(name: string, value: number | string | readonly string[]): void {
    if (!connectionFields.has(name.toLowerCase())) super.setHeader(name, value)
  }

  override appendHeader(name: string, value: string | string[]): void {
    if (!connectionFields.has(name.toLowerCase())) super.appendHeader(name, value)
  }
}

markEnded(Http2Response.prototype, isBeingSliced)

const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/** Not `writableEnded` of this response: one that is being compressed is ended, and still writes. */
function wasEnded(response: Http2ServerResponse): boolean {
  return isBeingSliced(response) || Reflect.get(Http2ServerResponse.prototype, 'writableEnded', response)
}
