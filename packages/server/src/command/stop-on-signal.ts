import { replaceSignalListeners } from '../serve/replace-signal-listeners.ts'

/** Stops what was started; settles when it has stopped. */
type Stop = () => Promise<void>

/** With the exit codes that shells give them. */
const signals = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const

/**
 * Ends the process on SIGTERM and SIGINT, also as PID 1, which gets no default handlers. The first signal stops what was
 * started and then ends the process; a second one ends it at once, and so does the first before anything is started.
 *
 * @returns takes what stops what was started.
 */
export function stopOnSignal(): (stop: Stop) => void {
  let stop: Stop | undefined
  let isStopping = false
  for (const [signal, code] of signals) {
    // That of `bin/serve-dist.js` is for the time until here.
    replaceSignalListeners(signal, () => {
      if (stop === undefined) process.exit(code)
      if (isStopping) process.exit(1)
      isStopping = true
      // Timers and connections of an application would keep the process alive.
      void stop().finally(() => process.exit())
    })
  }
  return (given) => {
    stop = given
  }
}
