import { createHash } from 'node:crypto'
import { read } from 'node:fs'
import { promisify } from 'node:util'

/** Bytes that are read and hashed without looking at the event loop: a quarter of a millisecond. */
export const largestAtOnce: number = 256 * 1024

const readDescriptor = promisify(read)

/**
 * The SHA-256 of an open file's bytes, in hexadecimal digits.
 *
 * @param body - takes the bytes, if they are wanted.
 */
export async function digestFile(descriptor: number, size: number, body?: Uint8Array): Promise<string> {
  const digest = createHash('sha256')
  const target = body ?? Buffer.allocUnsafe(Math.min(largestAtOnce, size))
  for (let position = 0; position < size;) {
    const length = Math.min(largestAtOnce, size - position)
    const offset = body === undefined ? 0 : position
    const { bytesRead } = await readDescriptor(descriptor, target, offset, length, position)
    if (bytesRead === 0) break
    digest.update(target.subarray(offset, offset + bytesRead))
    position += bytesRead
  }
  return digest.digest('hex')
}
