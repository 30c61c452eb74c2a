/**
 * Shares runs of a task between callers and never runs it twice at the same time. All calls during a run
 * get the result of one further run, which starts afterwards.
 *
 * @param task - must not reject.
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
