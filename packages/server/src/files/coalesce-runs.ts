/**
 * Runs a task for everybody who asks for it, but never twice at once: calls during a run all get the result
 * of one more, which begins after it.
 *
 * @param task - which never rejects.
 */
export function coalesceRuns<Result>(task: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  let queued: Promise<Result> | undefined

  function begin(): Promise<Result> {
    queued = undefined
    const begun = task().finally(() => {
      running = queued
    })
    running = begun
    return begun
  }

  return () => {
    if (running === undefined) return begin()
    queued ??= running.then(begin)
    return queued
  }
}
