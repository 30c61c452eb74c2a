import type { Worker } from 'node:cluster'
import type { RequestMetrics } from './read-worker-metrics.ts'
import { isWorkerMessage, type PrimaryOrder, sendToWorker, type WorkerMessage } from './worker-messages.ts'

/** Milliseconds without a message after which a worker is stuck. Rendering a page blocks its event loop far less. */
const idleReplyTimeout = 5000
/**
 * The same for a worker that loads or activates a build. Parsing a manifest and building the table block the
 * event loop: 0.8 s for 40,000 files on a busy machine (docs/decisions/014-boot.md), and far longer with a
 * CPU limit.
 */
const busyReplyTimeout = 60_000

type Answer<Type> = Extract<WorkerMessage, { type: Type }>

/**
 * Sends a request to a worker and waits while its event loop is responsive. A stuck worker is killed and
 * replaced.
 *
 * @returns the answer, or `undefined` if the worker has ended.
 */
export async function requestFromWorker<Type extends WorkerMessage['type']>(
  worker: Worker,
  question: Exclude<PrimaryOrder['type'], 'serve-dist:ping'>,
  answer: Type,
): Promise<Answer<Type> | undefined> {
  const patience = question === 'serve-dist:certify' ? idleReplyTimeout : busyReplyTimeout
  const stuck = new AbortController()
  let hasAnswered = false
  const note = (message: unknown): void => {
    hasAnswered ||= isWorkerMessage(message)
  }
  worker.on('message', note)
  const timer = setInterval(() => {
    if (hasAnswered) {
      hasAnswered = false
      sendToWorker(worker, { type: 'serve-dist:ping' })
      return
    }
    process.stderr.write(
      `serve-dist: worker ${worker.process.pid} is stuck (no answer within ${patience / 1000} s) and is killed\n`,
    )
    worker.process.kill('SIGKILL')
    stuck.abort()
  }, patience)
  sendToWorker(worker, { type: 'serve-dist:ping' })
  return await awaitReply(worker, { question, answer }, stuck.signal).finally(() => {
    clearInterval(timer)
    worker.off('message', note)
  })
}

/** Requests the metrics of a worker. It does not kill stuck workers; only a reload does. */
export const requestMetrics: RequestMetrics = async (worker, signal) => {
  const names = { question: 'serve-dist:metrics', answer: 'serve-dist:counted' } as const
  return (await awaitReply(worker, names, signal))?.content
}

/** @returns `undefined` if the worker ends or the signal aborts. */
async function awaitReply<Type extends WorkerMessage['type']>(
  worker: Worker,
  { question, answer }: { readonly question: PrimaryOrder['type']; readonly answer: Type },
  signal: AbortSignal,
): Promise<Answer<Type> | undefined> {
  return await new Promise((resolve) => {
    const settle = (reply?: Answer<Type>): void => {
      worker.off('message', onMessage)
      worker.off('exit', giveUp)
      signal.removeEventListener('abort', giveUp)
      resolve(reply)
    }
    const giveUp = (): void => settle()
    const onMessage = (message: unknown): void => {
      if (isWorkerMessage(message) && isOfType(message, answer)) settle(message)
    }
    worker.on('message', onMessage)
    worker.on('exit', giveUp)
    signal.addEventListener('abort', giveUp)
    if (signal.aborted || !worker.isConnected()) giveUp()
    else sendToWorker(worker, { type: question })
  })
}

function isOfType<Type extends WorkerMessage['type']>(
  message: WorkerMessage,
  type: Type,
): message is Answer<Type> {
  return message.type === type
}
