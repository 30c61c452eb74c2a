import { createHash } from 'node:crypto'
import { type BigIntStats, read } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { changeTimeOf, fingerprintOf, statDescriptor } from './open-regular-file.ts'

/** The number of bytes that are read and hashed without yielding to the event loop; it takes 0.25 ms. */
export const synchronousReadBytes: number = 256 * 1024

const readDescriptor = promisify(read)

/**
 * Returns the SHA-256 of an open file in hexadecimal digits.
 *
 * @param body - a buffer for the bytes, if they are needed.
 */
export async function digestFile(descriptor: number, size: number, body?: Uint8Array): Promise<string> {
  const digest = createHash('sha256')
  const target = body ?? Buffer.allocUnsafe(Math.min(synchronousReadBytes, size))
  for (let position = 0; position < size;) {
    const length = Math.min(synchronousReadBytes, size - position)
    const offset = body === undefined ? 0 : position
    const { bytesRead } = await readDescriptor(descriptor, target, offset, length, position)
    if (bytesRead === 0) break
    digest.update(target.subarray(offset, offset + bytesRead))
    position += bytesRead
  }
  return digest.digest('hex')
}

/**
 * The resolution of the kernel's clock with a margin, in milliseconds. Two writes within it have the same
 * time.
 */
const tick = 30

/**
 * Returns the digest of an open file, or `undefined` if the file changes while it is read.
 *
 * @param stats - the state of the open file. The digest is valid as long as this state is.
 */
export async function digestIfUnchanged(descriptor: number, stats: BigIntStats): Promise<string | undefined> {
  // A write within the same tick as the last change leaves the times unchanged. Wait until such a write is
  // done.
  if (Date.now() - Number(stats.ctimeMs) < tick) await setTimeout(tick)
  const digest = await digestFile(descriptor, Number(stats.size))
  const after = await statDescriptor(descriptor)
  // Deleting or replacing a name of the file also changes its change time, but none of its bytes.
  const isNameGone = after.nlink < stats.nlink
  const isSame = isNameGone || changeTimeOf(after) === changeTimeOf(stats)
  return isSame && fingerprintOf(after) === fingerprintOf(stats) ? digest : undefined
}
