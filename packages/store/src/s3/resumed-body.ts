import { addAbortSignal, Readable } from 'node:stream'
import { createRetryDelay } from './retry.ts'

interface ResumedBody {
  /** The body of the first answer. */
  readonly first: unknown
  /** In bytes. */
  readonly size: number
  /** Answers what comes from this byte on. */
  readonly reopen: (at: number) => Promise<unknown>
  /** An error as the reader of the body gets it. */
  readonly failed: (error: unknown) => unknown
  readonly signal: AbortSignal | undefined
}

/** The bytes of an object, over as many answers as that takes: one that breaks off goes on where it ended. */
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
        throw Object.assign(new Error(`ended after ${at} of ${size} bytes`), { code: 'ECONNRESET' })
      } catch (error) {
        answer = undefined
        await patience.wait(error, signal).catch((last: unknown) => {
          throw failed(last)
        })
      }
    }
  }
  const body = Readable.from(bytes(), { objectMode: false, highWaterMark: 256 * 1024 })
  // A generator that waits for an answer would end only with it.
  body.once('close', () => answer?.destroy())
  return signal === undefined ? body : addAbortSignal(signal, body)
}

function readable(body: unknown): Readable {
  if (body instanceof Readable) return body
  throw new TypeError('the SDK gave no stream')
}
