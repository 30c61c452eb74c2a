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

/** A result, and what the codec took for it. */
export interface TimedResult {
  readonly encoded: Uint8Array<ArrayBuffer>
  readonly milliseconds: number
}

/** What a thread is sent, and what it sends back. */
export type ThreadRequest = EncodeTask | FileBatch
export type ThreadAnswer = TimedResult | BatchAnswer | { readonly error: unknown }

/** A thread that encodes; one call at a time. */
export interface EncodeThread {
  readonly encodeFile: (task: EncodeTask) => Promise<TimedResult>
  readonly compressBatch: (batch: FileBatch) => Promise<BatchAnswer>
  end(): Promise<void>
}

/** `dist` is beside `src` and beside itself: tests run the sources, and Node 20 no TypeScript. */
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

const unexpected = new TypeError('the thread answered something else')

/** Reads and encodes a file, and blocks this thread meanwhile. Fails if the file has changed. */
export async function encodeFile(
  { folder, path, sha256, coding }: EncodeTask,
  encode: Encode,
): Promise<TimedResult> {
  const { bytes, ...file } = await loadFile(folder, path)
  if (file.sha256 !== sha256) throw new FileChangedError()
  const startedAt = performance.now()
  // A codec may answer a view of larger memory: only what holds nothing else can be handed to a thread.
  const encoded = new Uint8Array(await encode(bytes, coding))
  return { encoded, milliseconds: performance.now() - startedAt }
}
