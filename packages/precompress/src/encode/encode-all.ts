import { createEncode } from '../codecs/encode.ts'
import type { EncodeAll, EncodeAnswer, EncodeTask } from './start-encode-thread.ts'

/** Encodes in this thread, which does nothing else meanwhile. */
export function createEncodeAll(): EncodeAll {
  const encode = createEncode()

  const encodeOne = async ({ bytes, coding }: EncodeTask): Promise<EncodeAnswer> => {
    const startedAt = performance.now()
    const passed = (): number => performance.now() - startedAt
    try {
      // A codec may answer a view of larger memory: only what holds nothing else can be handed to a thread.
      const encoded = new Uint8Array(await encode(bytes, coding))
      return { encoded, milliseconds: passed() }
    } catch (error) {
      return { error, milliseconds: passed() }
    }
  }

  return async (tasks) => {
    const answers: EncodeAnswer[] = []
    for (const task of tasks) answers.push(await encodeOne(task))
    return answers
  }
}
