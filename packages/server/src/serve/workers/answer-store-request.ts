import type { Worker } from 'node:cluster'
import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { SendStoreRequest } from '../../mirror/share-mirror.ts'
import { sendToWorker, type PrimaryReply, type WorkerMessage } from './worker-messages.ts'

/** Answers a worker's request to the store. It never rejects. */
export async function answerStoreRequest(
  worker: Worker,
  { number, question }: Extract<WorkerMessage, { readonly type: 'serve-dist:ask' }>,
  answer: SendStoreRequest,
): Promise<void> {
  const reply = await answer(question).catch((error: unknown): PrimaryReply['reply'] => {
    if (error instanceof OperatorError) return { code: error.code, problems: error.problems }
    return { code: 'SD_CACHE_UNUSABLE', problems: [reasonOf(error)] }
  })
  sendToWorker(worker, { type: 'serve-dist:reply', number, reply })
}
