import type { Worker } from 'node:cluster'

/**
 * Waits for what a worker says.
 *
 * @param read - makes the answer of a message; `undefined` of another one.
 * @param signal - ends the wait.
 * @returns the answer, or `undefined` where none comes: it has ended, or the wait has.
 */
export async function hearFrom<Answer>(
  worker: Worker,
  read: (message: unknown) => Answer | undefined,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  return await new Promise((resolve) => {
    const settle = (answer?: Answer): void => {
      worker.off('message', onMessage)
      worker.off('exit', giveUp)
      signal.removeEventListener('abort', giveUp)
      resolve(answer)
    }
    const giveUp = (): void => settle()
    const onMessage = (message: unknown): void => {
      const answer = read(message)
      if (answer !== undefined) settle(answer)
    }
    worker.on('message', onMessage)
    worker.on('exit', giveUp)
    signal.addEventListener('abort', giveUp)
    if (signal.aborted || !worker.isConnected()) giveUp()
  })
}
