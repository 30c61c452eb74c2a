import { replaceSignalListeners } from '../serve/replace-signal-listeners.ts'

/** Milliseconds to describe the state after a stop. The store may be unreachable, and the reason for the stop. */
const longestLook = 2000

/**
 * Runs work that the first signal stops at the next safe point. The second signal ends the process immediately.
 *
 * @param describe - describes the state after a stop, until its signal aborts.
 */
export async function runInterruptibly(
  work: (signal: AbortSignal) => Promise<void>,
  describe: (signal: AbortSignal) => Promise<string>,
): Promise<void> {
  const controller = new AbortController()
  let exitCode = 0
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    replaceSignalListeners(signal, () => {
      if (controller.signal.aborted) process.exit(code)
      exitCode = code
      controller.abort()
    })
  }
  try {
    await work(controller.signal)
  } catch (error) {
    if (!controller.signal.aborted) throw error
    const state = await describe(AbortSignal.timeout(longestLook)).catch(
      () => 'the store does not answer. Run serve-dist generations later to see which build is current.',
    )
    process.stderr.write(`serve-dist: stopped: ${state}\n`)
    process.exitCode = exitCode
  }
}
