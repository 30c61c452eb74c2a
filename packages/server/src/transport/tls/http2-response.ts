import { constants, type Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { callMethodOf, markEnded, rejectWriteAfterEnd } from '../../send/intercept.ts'
import { minimumReservation } from '../../send/reserve-memory.ts'
import { expectValidField, expectValidFields } from './expect-valid-fields.ts'
import { isEndedWithPendingSlices, hasPendingSlices, sliceSize, writeInSlices } from './write-in-slices.ts'

/** A response over HTTP/2. */
export class Http2Response<
  Request extends Http2ServerRequest = Http2ServerRequest,
> extends Http2ServerResponse<Request> {
  #handedOver = 0

  /** The open streams of its session, including its own. */
  streams: { readonly size: number } = { size: 1 }

  /**
   * The maximum number of bytes to pass on at a time. All streams of a slow connection get a share of it.
   */
  get #most(): number {
    return Math.max(minimumReservation, Math.floor(sliceSize / this.streams.size))
  }

  /** The number of bytes of the body that were sent or discarded. */
  get taken(): number {
    return this.#handedOver - this.stream.writableLength
  }

  override write(...given: readonly unknown[]): boolean {
    if (!wasEnded(this)) return this.#handOver('write', given)
    // Otherwise Node would discard the last body.
    rejectWriteAfterEnd(this, given)
    return false
  }

  override end(...given: readonly unknown[]): this {
    this.#handOver('end', given)
    return this
  }

  #handOver(method: 'write' | 'end', [body, ...rest]: readonly unknown[]): boolean {
    const { stream } = this
    const room = (): number => this.#most - stream.writableLength
    const isLongText = typeof body === 'string' && body.length > room()
    const coding = typeof rest[0] === 'string' && Buffer.isEncoding(rest[0]) ? rest[0] : 'utf8'
    return writeInSlices(this, [method, isLongText ? Buffer.from(body, coding) : body, ...rest], {
      size: this.#most,
      room,
      call: (called, ...slice) => {
        const before = stream.writableLength
        const result = callMethodOf(Http2ServerResponse.prototype, called, this, slice)
        if (called === 'write') this.#handedOver += stream.writableLength - before
        return result
      },
      drained: () => this.emit('drain'),
    })
  }

  /**
   * Suppresses `drain` while slices remain, because an application would mistake it for the end of its own
   * write.
   */
  override emit(...given: Parameters<Http2ServerResponse['emit']>): boolean {
    return given[0] === 'drain' && hasPendingSlices(this) ? false : super.emit(...given)
  }

  /** Without a code, Node would report success (RFC 9113 §7), and a part would look complete. */
  override destroy(error?: Error): this {
    this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    super.destroy(error)
    return this
  }

  /** RFC 9113 §8.2.2: drops connection fields, which an HTTP/1.1 application may set. */
  override setHeader(name: string, value: number | string | readonly string[]): void {
    if (connectionFields.has(name.toLowerCase())) return
    expectValidField(name, value)
    super.setHeader(name, value)
  }

  override appendHeader(name: string, value: string | string[]): void {
    if (connectionFields.has(name.toLowerCase())) return
    expectValidField(name, value)
    super.appendHeader(name, value)
  }

  override writeHead(status: number, ...given: readonly unknown[]): this {
    expectValidFields(given.at(-1))
    callMethodOf(Http2ServerResponse.prototype, 'writeHead', this, [status, ...given])
    return this
  }

  override writeEarlyHints(hints: Record<string, string | string[]>): void {
    expectValidFields(hints)
    super.writeEarlyHints(hints)
  }

  override addTrailers(trailers: Parameters<Http2ServerResponse['addTrailers']>[0]): void {
    expectValidFields(trailers)
    super.addTrailers(trailers)
  }
}

markEnded(Http2Response.prototype, isEndedWithPendingSlices)

const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/**
 * Ignores `writableEnded` of this response, because a response that is being compressed is ended and still
 * writes.
 */
function wasEnded(response: Http2ServerResponse): boolean {
  return (
    isEndedWithPendingSlices(response) ||
    Reflect.get(Http2ServerResponse.prototype, 'writableEnded', response)
  )
}
