import { createHash } from 'node:crypto'
import { type BigIntStats, read } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { changeTimeOf, fingerprintOf, statDescriptor } from './open-regular-file.ts'

/** Bytes that are read and hashed without looking at the event loop: a quarter of a millisecond. */
export const synchronousReadBytes: number = 256 * 1024

const readDescriptor = promisify(read)

/**
 * The SHA-256 of an open file's bytes, in hexadecimal digits.
 *
 * @param body - takes the bytes, if they are wanted.
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

/** Milliseconds, with some to spare, within which two writes have the same time: a tick of the kernel's clock. */
const tick = 30

/**
 * The digest of an open file to which nobody writes meanwhile; `undefined` where somebody does.
 *
 * @param stats - what it was when it was looked at: as long as that stays, the digest does.
 */
export async function digestIfUnchanged(descriptor: number, stats: BigIntStats): Promise<string | undefined> {
  // What is written within the tick of the last change cannot be told from it: such bytes must be read, too.
  if (Date.now() - Number(stats.ctimeMs) < tick) await setTimeout(tick)
  const digest = await digestFile(descriptor, Number(stats.size))
  const after = await statDescriptor(descriptor)
  const isSame = fingerprintOf(after) === fingerprintOf(stats) && changeTimeOf(after) === changeTimeOf(stats)
  return isSame ? digest : undefined
}
