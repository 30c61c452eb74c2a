import { replaceSignalListeners } from '../serve/replace-signal-listeners.ts'

/** Stops the server; resolves when it has stopped. */
type Stop = () => Promise<void>

/** The exit codes are those of shells. */
const signals = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const

/**
 * Ends the process on SIGTERM and SIGINT, also as PID 1, which has no default handlers. The first signal stops the server
 * and then ends the process. The second signal ends the process immediately, and also the first one before the start.
 *
 * @returns a function that sets how to stop the server.
 */
export function stopOnSignal(): (stop: Stop) => void {
  let stop: Stop | undefined
  let isStopping = false
  for (const [signal, code] of signals) {
    // Replaces the listener of `bin/serve-dist.js`.
    replaceSignalListeners(signal, () => {
      if (stop === undefined) process.exit(code)
      if (isStopping) process.exit(1)
      isStopping = true
      // The exit is necessary, because an application may keep timers and connections open.
      void stop().finally(() => process.exit())
    })
  }
  return (given) => {
    stop = given
  }
}
