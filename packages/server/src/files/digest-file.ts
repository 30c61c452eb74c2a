import { createHash, hash } from 'node:crypto'
import { read, readSync } from 'node:fs'
import { promisify } from 'node:util'

/** Bytes that are read and hashed without looking at the event loop: a quarter of a millisecond. */
export const largestAtOnce: number = 256 * 1024

const readDescriptor = promisify(read)

/**
 * The SHA-256 of an open file's bytes, in hexadecimal digits.
 *
 * @param body - takes the bytes, if they are wanted.
 */
export function digestFile(descriptor: number, size: number, body?: Uint8Array): string | Promise<string> {
  return size <= largestAtOnce
    ? digestAtOnce(descriptor, body ?? Buffer.allocUnsafe(size))
    : digestInChunks(descriptor, size, body)
}

function digestAtOnce(descriptor: number, body: Uint8Array): string {
  let position = 0
  while (position < body.length) {
    const bytesRead = readSync(descriptor, body, position, body.length - position, position)
    if (bytesRead === 0) break
    position += bytesRead
  }
  return hash('sha256', body.subarray(0, position), 'hex')
}

async function digestInChunks(
  descriptor: number,
  size: number,
  body: Uint8Array | undefined,
): Promise<string> {
  const digest = createHash('sha256')
  const reused = body === undefined ? Buffer.allocUnsafe(largestAtOnce) : undefined
  let position = 0
  while (position < size) {
    const length = Math.min(largestAtOnce, size - position)
    const chunk = reused?.subarray(0, length) ?? body?.subarray(position, position + length)
    if (chunk === undefined) break
    const { bytesRead } = await readDescriptor(descriptor, chunk, 0, length, position)
    if (bytesRead === 0) break
    digest.update(chunk.subarray(0, bytesRead))
    position += bytesRead
  }
  return digest.digest('hex')
}
