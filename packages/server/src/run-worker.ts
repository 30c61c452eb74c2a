import { isForOperator } from './is-for-operator.ts'
import type { RunningServer } from './serve.ts'
import { isPrimaryMessage, type WorkerMessage } from './worker-messages.ts'

/**
 * Serves as one worker of several: the primary is told what happens here, and says what is to happen.
 *
 * @param start - begins to serve.
 */
export async function runWorker(start: () => Promise<RunningServer>): Promise<void> {
  // Terminals and systemd signal all processes at once; the primary says what it means for the workers.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.removeAllListeners(signal)
    process.on(signal, () => {})
  }
  const server = await start().catch(async (error: unknown) => {
    if (!isForOperator(error)) throw error
    await tell({ type: 'serve-dist:failed', message: error.message })
    return process.exit(1)
  })
  process.on('message', (message: unknown) => {
    if (!isPrimaryMessage(message)) return
    if (message.type === 'serve-dist:drain') void server.close().finally(() => process.exit())
    else void server.reload().then((outcome) => tell({ type: 'serve-dist:reloaded', outcome }))
  })
  const { url, site } = server
  const { buildId, summary } = site
  await tell({ type: 'serve-dist:ready', url, buildId, summary, residentBytes: process.memoryUsage.rss() })
}

/** Settles when it is sent; where the primary has gone, Node ends this process by itself. */
async function tell(message: WorkerMessage): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.send === undefined) resolve()
    else process.send(message, () => resolve())
  })
}
