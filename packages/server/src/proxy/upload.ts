import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

/**
 * The body of a request for a target. If the target stops reading, the rest of the body is discarded, and
 * the connection of the client stays open for the answer.
 */
export class Upload extends Readable {
  readonly #request: IncomingMessage
  #size = 0
  readonly #onData: (chunk: Buffer) => void
  readonly #onEnd = (): void => {
    // Node emits `close` directly after `end`, before the target has read the rest.
    this.#request.off('close', this.#onClose)
    this.push(null)
  }
  readonly #onClose = (): void => void this.destroy(new Error('the client closed the connection'))

  /**
   * @param limit - in bytes.
   * @param onExcess - called when the body is larger.
   */
  constructor(request: IncomingMessage, limit: number, onExcess: () => void) {
    super()
    this.#request = request
    this.#onData = (chunk) => {
      this.#size += chunk.length
      if (this.#size > limit) onExcess()
      else if (!this.push(chunk)) request.pause()
    }
    request.pause()
    // undici listens only while it sends the body, but the client may leave before the target is connected.
    this.on('error', () => undefined)
    request.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose)
  }

  override _read(): void {
    this.#request.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose)
    this.#request.resume()
    callback(error)
  }
}
