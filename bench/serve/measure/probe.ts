import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from './raw-exchange.ts'

/** Asks again and again, with a pause between, while something else loads the server. */
export interface Probe {
  /**
   * Ends it.
   *
   * @returns milliseconds to each whole answer.
   * @throws when one failed, or had another status than 200.
   */
  stop(): Promise<readonly number[]>
}

const pauseMilliseconds = 50

/** Starts to ask for a target. */
export function startProbe(port: number, target: string): Probe {
  const latencies: number[] = []
  const end = new AbortController()
  const ask = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const startedAt = performance.now()
      const { status } = await exchange(port, `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
      if (status !== 200) throw new Error(`${target}: ${status}, not 200`)
      latencies.push(performance.now() - startedAt)
      await delay(pauseMilliseconds)
    }
  }
  // Settled now, so that a failure waits for stop() instead of ending the process.
  const ended = ask().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
  return {
    async stop() {
      end.abort()
      const failure = await ended
      if (failure !== undefined) throw failure
      return latencies
    },
  }
}
