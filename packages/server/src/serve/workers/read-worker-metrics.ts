import type { Worker } from 'node:cluster'
import type { RegistryContent } from '../../operations/metrics.ts'

/**
 * Requests the metrics of a worker. The result is their content, or why they cannot be read, or `undefined`
 * if the signal aborts or the worker has ended.
 */
export type RequestMetrics = (
  worker: Worker,
  signal: AbortSignal,
) => Promise<RegistryContent | string | undefined>

/** The metrics of all workers. */
export interface WorkersContent {
  /** The current metrics of each worker, or the last known ones. */
  readonly contents: readonly RegistryContent[]
  readonly answering: number
  readonly silent: number
}

/**
 * Milliseconds that a worker may take. Scrapers usually wait 10 seconds and need the metrics of the other
 * workers.
 */
const patience = 2000

/**
 * Creates a reader of the workers' metrics. It logs a silent worker once and uses its last metrics, because
 * falling counters would look like a restart.
 *
 * @param workers - returns the listening workers.
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
        `serve-dist: worker ${worker.process.pid} ${problem}. Its last known metrics are used.\n`,
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
