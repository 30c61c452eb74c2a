import { replaceSignalListeners } from '../serve/replace-signal-listeners.ts'

/**
 * Lets a signal stop work between two steps, where nothing is half done; a second one ends the process at once.
 *
 * @param describe - says what is true after that.
 */
export async function stopBetweenSteps(
  work: (signal: AbortSignal) => Promise<void>,
  describe: () => Promise<string>,
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
    process.stderr.write(`serve-dist: stopped; ${await describe()}\n`)
    process.exitCode = exitCode
  }
}
