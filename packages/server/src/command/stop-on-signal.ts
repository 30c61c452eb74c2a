import { constants } from 'node:os'

/** Stops what was started; settles when it has stopped. */
export type Stop = () => Promise<void>

const signals = ['SIGTERM', 'SIGINT'] as const

/**
 * Listens for SIGTERM and SIGINT from now on, which the system would keep from a process with id 1. The
 * first lets what was started stop, and the process ends with it; a second ends it at once, and so does
 * the first as long as nothing was started.
 *
 * @returns takes what was started.
 */
export function stopOnSignal(): (stop: Stop) => void {
  let stop: Stop | undefined
  let isStopping = false
  for (const signal of signals) {
    // Whoever listened while the modules were loaded (`bin/serve-dist.js`).
    process.removeAllListeners(signal)
    process.on(signal, () => {
      // As shells have it.
      if (stop === undefined) process.exit(128 + constants.signals[signal])
      if (isStopping) process.exit(1)
      isStopping = true
      // An application's own timers and connections do not hold the process any longer.
      void stop().finally(() => process.exit())
    })
  }
  return (given) => {
    stop = given
  }
}
