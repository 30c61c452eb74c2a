import { constants, Http2ServerResponse } from 'node:http2'
import { socketTimeout } from './connection-limits.ts'
import { wantsSlices, writeSlices } from './write-slices.ts'

/** An answer over HTTP/2. */
export class Http2Response extends Http2ServerResponse {
  override end(...given: readonly unknown[]): this {
    const [body] = given
    // A stream may stall while its session goes on: Node's own time limits look at the session alone.
    const deadline = setTimeout(cutOff, socketTimeout, this).unref()
    // Of a stream that has gone no end is told any more.
    if (this.stream.destroyed) clearTimeout(deadline)
    else this.once('close', () => clearTimeout(deadline))
    if (wantsSlices(body) && this.req.method !== 'HEAD') {
      writeSlices(body, {
        write: (slice, done) => {
          deadline.refresh()
          this.write(slice, done)
        },
        end: (slice) => {
          deadline.refresh()
          super.end(slice)
        },
      })
    } else {
      // oxlint-disable-next-line typescript/unbound-method -- bound right here
      Reflect.apply(super.end, this, given)
    }
    return this
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

const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

function cutOff({ stream }: Http2ServerResponse): void {
  stream.close(constants.NGHTTP2_CANCEL)
}
