import { replaceSignalListeners } from '../serve/replace-signal-listeners.ts'

/** Milliseconds to look what is true after a stop: the store may be what was waited for. */
const longestLook = 2000

/**
 * Lets a signal stop work between two steps, where nothing is half done; a second one ends the process at once.
 *
 * @param describe - says what is true after that, as long as its signal lets it.
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
      () => 'the store does not say what is current; look at its generations when it answers',
    )
    process.stderr.write(`serve-dist: stopped; ${state}\n`)
    process.exitCode = exitCode
  }
}
