import { constants, Http2ServerResponse } from 'node:http2'
import { socketTimeout } from '../../protocol/connection-limits.ts'
import { refuseLateWrite } from '../../send/refuse-late-write.ts'
import { actAfterSlices, isBeingSliced, tellEndOfSlices, wantsSlices, writeSlices } from './write-slices.ts'

/** An answer over HTTP/2. */
export class Http2Response extends Http2ServerResponse {
  override write(...given: readonly unknown[]): boolean {
    if (!wasEnded(this)) return writeAsNode(this, given)
    // Node would give up what it was ended with.
    refuseLateWrite(this, given.find(isCallback))
    return false
  }

  override end(...given: readonly unknown[]): this {
    if (isBeingSliced(this)) {
      actAfterSlices(this, () => endAsNode(this, given))
      return this
    }
    const body = given[0]
    // A stream may stall while its session goes on: Node's own time limits look at the session alone.
    const deadline = setTimeout(cutOff, socketTimeout, this).unref()
    // Of a stream that has gone no end is told any more.
    if (this.stream.destroyed) clearTimeout(deadline)
    else this.once('close', () => clearTimeout(deadline))
    if (wantsSlices(body) && this.req.method !== 'HEAD') {
      writeSlices(this, body, {
        write: (slice, done) => {
          deadline.refresh()
          writeAsNode(this, [slice, done])
        },
        end: (slice) => {
          deadline.refresh()
          endAsNode(this, [slice, ...given.slice(1)])
        },
      })
    } else {
      endAsNode(this, given)
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

tellEndOfSlices(Http2Response.prototype)

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

/** Whoever compresses what was ended says so too, and goes on writing. */
function wasEnded(response: Http2ServerResponse): boolean {
  return isBeingSliced(response) || Reflect.get(Http2ServerResponse.prototype, 'writableEnded', response)
}

function isCallback(value: unknown): value is (error: Error) => void {
  return typeof value === 'function'
}

function writeAsNode(response: Http2ServerResponse, given: readonly unknown[]): boolean {
  // oxlint-disable-next-line typescript/unbound-method -- bound right here
  return Reflect.apply(Http2ServerResponse.prototype.write, response, given)
}

function endAsNode(response: Http2ServerResponse, given: readonly unknown[]): void {
  // oxlint-disable-next-line typescript/unbound-method -- bound right here
  Reflect.apply(Http2ServerResponse.prototype.end, response, given)
}
