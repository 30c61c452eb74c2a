import { parentPort } from 'node:worker_threads'
import { encode } from '../codecs/encode.ts'
import { compressBatch } from './compress-batch.ts'
import { encodeFile, type ThreadAnswer, type ThreadRequest } from './start-encode-thread.ts'

parentPort?.on('message', (request: ThreadRequest) => {
  void answer(request)
})

async function answer(request: ThreadRequest): Promise<void> {
  const message = await work(request).catch((error: unknown) => ({ error }))
  parentPort?.postMessage(message, 'encoded' in message ? [message.encoded.buffer] : [])
}

async function work(request: ThreadRequest): Promise<ThreadAnswer> {
  return 'coding' in request ? await encodeFile(request, encode) : await compressBatch(request)
}
