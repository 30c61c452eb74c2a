import { hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { digestFile, synchronousReadBytes } from './digest-file.ts'
import { type ExpectedFile, expectDigest, expectSize } from './inspect-file.ts'
import { linklessFlags } from './open-regular-file.ts'
import type { StoredBytes } from '../site/site.ts'

type ExpectedBody = Pick<ExpectedFile, 'size' | 'sha256'>

/** Reads a body into memory; asynchronous only for large files. */
export type BodyReader = (file: string, expected: ExpectedBody) => StoredBytes | Promise<StoredBytes>

/**
 * Creates a function that reads bodies of the same lifetime and compares them with the manifest by digest.
 * It throws FileMismatchError, NotRegularError, or the system's own error.
 */
export function createBodyReader(): BodyReader {
  let slab = new Uint8Array(0)
  let used = 0

  /** Returns memory for a small body: the slab from `used` on, or a separate allocation. */
  function memoryFor(size: number): Uint8Array<ArrayBuffer> {
    if (size > largestShared) return new Uint8Array(size)
    if (used + size > slab.length) {
      slab = new Uint8Array(slabSize)
      used = 0
    }
    return slab
  }

  /**
   * Returns `undefined` if the file needs a closer look: it is empty, not regular, of another size, or
   * partly read.
   */
  function readAtOnce(file: string, { size, sha256 }: ExpectedBody): StoredBytes | undefined {
    const descriptor = openSync(file, linklessFlags)
    try {
      // One extra byte detects a file that has grown.
      const memory = memoryFor(size + 1)
      const start = memory === slab ? used : 0
      if (size === 0 || readOnce(descriptor, memory, start, size + 1) !== size) return undefined
      if (memory === slab) used += size
      const body = new Uint8Array(memory.buffer, start, size)
      expectDigest(hash('sha256', body, 'hex'), sha256)
      return { size, body }
    } finally {
      closeSync(descriptor)
    }
  }

  return (file, expected) => {
    const stored = expected.size <= synchronousReadBytes ? readAtOnce(file, expected) : undefined
    // Network mounts and FUSE may return fewer bytes than requested.
    return stored ?? readInTurns(file, expected)
  }
}

async function readInTurns(file: string, { size, sha256 }: ExpectedBody): Promise<StoredBytes> {
  const descriptor = openSync(file, linklessFlags)
  try {
    expectSize(descriptor, size)
    const body = new Uint8Array(size)
    expectDigest(await digestFile(descriptor, size, body), sha256)
    return { size, body }
  } finally {
    closeSync(descriptor)
  }
}

/** Returns the number of bytes read, or -1 for a folder or an empty FIFO. */
function readOnce(descriptor: number, memory: Uint8Array, offset: number, length: number): number {
  try {
    return readSync(descriptor, memory, offset, length, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && notRegularCodes.has(error.code)) return -1
    throw error
  }
}

const notRegularCodes = new Set<unknown>(['EISDIR', 'EAGAIN', 'ESPIPE'])

/**
 * The size of an allocation that bodies share, in bytes. A separate allocation costs some hundred bytes
 * besides its content. A slow client keeps at most one shared allocation of an old build alive.
 */
const slabSize = 1024 * 1024

/** The size above which a body has its own allocation, in bytes. */
const largestShared = 64 * 1024
