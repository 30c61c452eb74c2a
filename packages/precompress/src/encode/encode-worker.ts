import { parentPort, type TransferListItem } from 'node:worker_threads'
import { encode } from '../codecs/encode.ts'
import { compressBatch } from './compress-batch.ts'
import {
  createEncodeAll,
  type EncodeAnswer,
  type ThreadAnswer,
  type ThreadRequest,
} from './start-encode-thread.ts'

const encodeAll = createEncodeAll(encode)

parentPort?.on('message', (request: ThreadRequest) => {
  void work(request)
})

async function work(request: ThreadRequest): Promise<void> {
  if ('batch' in request) return send({ batch: await compressBatch(request.batch) }, [])
  const answers = await encodeAll(request.tasks)
  return send({ answers }, answers.flatMap(bufferOf))
}

function send(message: ThreadAnswer, handedOver: readonly TransferListItem[]): void {
  parentPort?.postMessage(message, handedOver)
}

function bufferOf(answer: EncodeAnswer): ArrayBuffer[] {
  return 'encoded' in answer ? [answer.encoded.buffer] : []
}
