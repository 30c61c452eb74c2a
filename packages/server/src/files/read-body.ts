import { hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { digestFile, synchronousReadBytes } from './digest-file.ts'
import { type ExpectedFile, expectDigest, expectSize } from './inspect-file.ts'
import { linklessFlags } from './open-regular-file.ts'
import type { StoredBytes } from '../site/site.ts'

type ExpectedBody = Pick<ExpectedFile, 'size' | 'sha256'>

/** Reads a body that is to be held; it waits only for one that takes long. */
export type BodyReader = (file: string, expected: ExpectedBody) => StoredBytes | Promise<StoredBytes>

/**
 * Makes a function that reads bodies that live and die together, and compares them byte for byte with what
 * the manifest says, by digest. It throws Mismatch, NotRegularError, or the system's own error.
 */
export function createBodyReader(): BodyReader {
  let slab = new Uint8Array(0)
  let used = 0

  /** Memory for a body that is read at once: the slab, from `used` on, or memory of its own. */
  function memoryFor(size: number): Uint8Array<ArrayBuffer> {
    if (size > largestShared) return new Uint8Array(size)
    if (used + size > slab.length) {
      slab = new Uint8Array(slabSize)
      used = 0
    }
    return slab
  }

  /** `undefined` for what has to be looked at more closely: it is empty, no file, of another size, or read in part. */
  function readAtOnce(file: string, { size, sha256 }: ExpectedBody): StoredBytes | undefined {
    const descriptor = openSync(file, linklessFlags)
    try {
      // One more byte than is wanted: a file that has grown shows without a look at its state.
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
    // Network mounts and FUSE may give less at once than was asked for.
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

/** Bytes that were read; none of a folder, or of a FIFO that nobody has written to. */
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
 * Bytes that bodies share an allocation of. Each allocation of its own costs some hundred bytes beside its
 * content; and one of them that a slow reader holds on to keeps no more than this of an old build.
 */
const slabSize = 1024 * 1024

/** Bytes of a body that has an allocation of its own. */
const largestShared = 64 * 1024
