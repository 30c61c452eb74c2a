import { parentPort } from 'node:worker_threads'
import { createEncodeAll } from './encode-all.ts'
import type { EncodeTask } from './start-encode-thread.ts'

const encodeAll = createEncodeAll()

parentPort?.on('message', (tasks: readonly EncodeTask[]) => {
  void answer(tasks)
})

async function answer(tasks: readonly EncodeTask[]): Promise<void> {
  const answers = await encodeAll(tasks)
  const handedOver = answers.flatMap((one) => ('encoded' in one ? [one.encoded.buffer] : []))
  parentPort?.postMessage(answers, handedOver)
}
