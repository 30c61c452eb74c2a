import type { Worker } from 'node:cluster'
import type { RegistryContent } from '../../operations/metrics.ts'

/**
 * Asks a worker for its metrics: the answer is their content, why the worker cannot read them, or `undefined` when the
 * signal comes first.
 */
export type RequestMetrics = (
  worker: Worker,
  signal: AbortSignal,
) => Promise<RegistryContent | string | undefined>

/** The metrics of all workers. */
export interface WorkersContent {
  /** Each worker's content: the current one, or the last known. */
  readonly contents: readonly RegistryContent[]
  readonly answering: number
  readonly silent: number
}

/** Milliseconds that a worker may take: a scraper usually waits for 10 seconds, and then wants the others' metrics. */
const patience = 2000

/**
 * Makes a reader of workers' metrics. It names a worker that does not answer once on standard error, and uses its last
 * content: without it, counters would fall, and seem to have begun anew.
 *
 * @param workers - those that listen.
 */
export function createWorkersReader(
  workers: () => readonly Worker[],
  ask: RequestMetrics,
): () => Promise<WorkersContent> {
  const latest = new Map<Worker, RegistryContent>()
  const silent = new Set<Worker>()

  const read = async (worker: Worker): Promise<boolean> => {
    const content = await ask(worker, AbortSignal.timeout(patience))
    const isContent = typeof content === 'object'
    if (isContent) {
      latest.set(worker, content)
      silent.delete(worker)
    } else if (!silent.has(worker) && worker.isConnected()) {
      silent.add(worker)
      const problem =
        content === undefined
          ? `did not send its metrics within ${patience / 1000} s`
          : `cannot read its metrics (${content})`
      process.stderr.write(
        `serve-dist: worker ${worker.process.pid} ${problem}; the last known ones still count\n`,
      )
    }
    return isContent
  }
  return async () => {
    const asked = workers()
    for (const worker of latest.keys()) if (!asked.includes(worker)) latest.delete(worker)
    for (const worker of silent) if (!asked.includes(worker)) silent.delete(worker)
    const answering = (await Promise.all(asked.map(read))).filter(Boolean).length
    const contents = asked.flatMap((worker) => {
      const content = latest.get(worker)
      return content === undefined ? [] : [content]
    })
    return { contents, answering, silent: asked.length - answering }
  }
}
