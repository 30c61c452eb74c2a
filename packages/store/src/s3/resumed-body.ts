import { addAbortSignal, Readable } from 'node:stream'
import { createRetryDelay } from './retry.ts'

interface ResumedBody {
  /** The body of the first response. */
  readonly first: unknown
  /** The number of bytes. */
  readonly size: number
  /** Requests the bytes from this position on. */
  readonly reopen: (at: number) => Promise<unknown>
  /** Converts an error for the reader of the body. */
  readonly failed: (error: unknown) => unknown
  readonly signal: AbortSignal | undefined
}

/** Reads an object over several responses. If a response breaks off, the next one continues from there. */
export function resumedBody({ first, size, reopen, failed, signal }: ResumedBody): Readable {
  let answer: Readable | undefined = readable(first)
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    const patience = createRetryDelay()
    let at = 0
    for (;;) {
      try {
        answer ??= readable(await reopen(at))
        for await (const chunk of answer as AsyncIterable<Uint8Array>) {
          at += chunk.length
          patience.renew()
          yield chunk
        }
        if (at === size) return
        throw Object.assign(new Error(`the response ended after ${at} of ${size} bytes`), {
          code: 'ECONNRESET',
        })
      } catch (error) {
        answer = undefined
        await patience.wait(error, signal).catch((last: unknown) => {
          throw failed(last)
        })
      }
    }
  }
  const body = Readable.from(bytes(), { objectMode: false, highWaterMark: 256 * 1024 })
  // Destroying the generator alone would wait for the pending response.
  body.once('close', () => answer?.destroy())
  return signal === undefined ? body : addAbortSignal(signal, body)
}

function readable(body: unknown): Readable {
  if (body instanceof Readable) return body
  throw new TypeError('the SDK returned no stream')
}
