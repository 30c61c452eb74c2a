import type { Worker } from 'node:cluster'
import { hearFrom } from '../../operations/hear-from.ts'
import { isWorkerMessage, type PrimaryMessage, type WorkerMessage } from './worker-messages.ts'
import { tellWorker } from './worker-place.ts'

/** Milliseconds within which a worker says that its event loop turns; a page that is rendered takes far less. */
const rollCall = 5000
/**
 * The same once it has answered and works for us: parsing a manifest and building the table are one turn, 0.8 s for
 * 40,000 files on a machine that has more to do (docs/decisions/014-boot.md), and far longer within a tight quota.
 */
const longestTurn = 60_000

/**
 * Asks a worker, and waits as long as its event loop turns. One that is stuck is killed: its place is taken by
 * another one, and nobody waits for it.
 *
 * @returns its answer, or `undefined` where it has ended.
 */
export async function askWorker<Type extends WorkerMessage['type']>(
  worker: Worker,
  question: Exclude<PrimaryMessage['type'], 'serve-dist:ping'>,
  answer: Type,
): Promise<Extract<WorkerMessage, { type: Type }> | undefined> {
  const patience = question === 'serve-dist:certify' ? rollCall : longestTurn
  const stuck = new AbortController()
  let hasAnswered = false
  const timer = setInterval(() => {
    if (hasAnswered) {
      hasAnswered = false
      tellWorker(worker, { type: 'serve-dist:ping' })
      return
    }
    process.stderr.write(
      `serve-dist: worker ${worker.process.pid} is stuck (no answer within ${patience / 1000} s) and is killed\n`,
    )
    worker.process.kill('SIGKILL')
    stuck.abort()
  }, patience)
  const read = (message: unknown): Extract<WorkerMessage, { type: Type }> | undefined => {
    if (!isWorkerMessage(message)) return undefined
    hasAnswered = true
    return isOfType(message, answer) ? message : undefined
  }
  const answered = hearFrom(worker, read, stuck.signal)
  tellWorker(worker, { type: 'serve-dist:ping' })
  tellWorker(worker, { type: question })
  return await answered.finally(() => clearInterval(timer))
}

function isOfType<Type extends WorkerMessage['type']>(
  message: WorkerMessage,
  type: Type,
): message is Extract<WorkerMessage, { type: Type }> {
  return message.type === type
}
