import { startThread } from '@serve-dist/foundation/concurrency/start-thread'
import type { ContentCoding } from '@serve-dist/manifest'
import type { Encode } from '../codecs/encode.ts'
import { type DescribedFile, FileChangedError, loadFile } from '../folder/describe-file.ts'
import type { BatchAnswer, FileBatch } from './compress-batch.ts'

/** A described file and the coding to encode it in. */
export interface EncodeTask extends Pick<DescribedFile, 'path' | 'size' | 'sha256'> {
  /** The absolute path of the build's folder. */
  readonly folder: string
  readonly coding: ContentCoding
}

/** A result and the time of the codec. */
export interface TimedResult {
  readonly encoded: Uint8Array<ArrayBuffer>
  readonly milliseconds: number
}

/** Messages to a thread and from a thread. */
export type ThreadRequest = EncodeTask | FileBatch
export type ThreadAnswer = TimedResult | BatchAnswer | { readonly error: unknown }

/** A thread that encodes. It accepts one call at a time. */
export interface EncodeThread {
  readonly encodeFile: (task: EncodeTask) => Promise<TimedResult>
  readonly compressBatch: (batch: FileBatch) => Promise<BatchAnswer>
  end(): Promise<void>
}

/** The compiled worker, because Node 20 cannot run TypeScript. The path works from `src` and from `dist`. */
const defaultProgram = new URL('../../dist/encode/encode-worker.js', import.meta.url)

export function startEncodeThread(program: URL = defaultProgram): EncodeThread {
  const { ask, end } = startThread<ThreadRequest, ThreadAnswer>(program)
  return {
    encodeFile: async (task) => {
      const answer = await ask(task)
      if ('encoded' in answer) return answer
      throw 'error' in answer ? answer.error : unexpected
    },
    compressBatch: async (batch) => {
      const answer = await ask(batch)
      if ('results' in answer) return answer
      throw 'error' in answer ? answer.error : unexpected
    },
    end,
  }
}

const unexpected = new TypeError('the encoding thread sent an unexpected message')

/** Reads and encodes a file in this thread. Fails if the file has changed. */
export async function encodeFile(
  { folder, path, sha256, coding }: EncodeTask,
  encode: Encode,
): Promise<TimedResult> {
  const { bytes, ...file } = await loadFile(folder, path)
  if (file.sha256 !== sha256) throw new FileChangedError()
  const startedAt = performance.now()
  // Copy the result, because a codec may return a view of larger memory, which cannot be transferred.
  const encoded = new Uint8Array(await encode(bytes, coding))
  return { encoded, milliseconds: performance.now() - startedAt }
}
