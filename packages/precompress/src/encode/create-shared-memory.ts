/** Memory that threads use together and that is given back by hand. */
export interface SharedMemory {
  /** Answers when so much is free, behind those that asked before. */
  take(size: number): Promise<Uint8Array>
  /** Takes back memory that no thread reads any more. */
  giveBack(bytes: Uint8Array): void
}

interface Hole {
  readonly start: number
  readonly end: number
}

interface Waiting {
  readonly size: number
  readonly resolve: (bytes: Uint8Array) => void
}

/** A part that begins behind it would come to a thread as another one: messages cut its place to 32 bits. */
const largestPiece = 2 ** 32

/**
 * One piece of shared memory of which parts are handed out. V8 does not count shared memory as garbage that is worth
 * collecting: with one piece for each file, twenty files of 20 MB stayed in memory together.
 */
export function createSharedMemory(wanted: number): SharedMemory {
  const capacity = Math.min(wanted, largestPiece)
  let buffer: SharedArrayBuffer | undefined
  let holes: readonly Hole[] = [{ start: 0, end: capacity }]
  const waiting: Waiting[] = []

  const handOut = (whole: SharedArrayBuffer): void => {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const { size, resolve } = first
      const hole = holes.find(({ start, end }) => end - start >= size)
      if (hole === undefined) return
      holes = holes.flatMap((other) => (other === hole ? rest(hole, size) : [other]))
      waiting.shift()
      resolve(new Uint8Array(whole, hole.start, size))
    }
  }

  return {
    take: async (size) => {
      // A file that has grown since it was listed, or one that no piece holds.
      if (size > capacity) return new Uint8Array(new SharedArrayBuffer(size))
      // Only written pages become resident. Reserved before anybody waits, since it may throw.
      const whole = (buffer ??= new SharedArrayBuffer(capacity))
      return await new Promise<Uint8Array>((resolve) => {
        waiting.push({ size, resolve })
        handOut(whole)
      })
    },
    giveBack: (bytes) => {
      if (buffer === undefined || bytes.buffer !== buffer || bytes.length === 0) return
      const { byteOffset: start, byteLength } = bytes
      holes = joined([...holes, { start, end: start + byteLength }])
      handOut(buffer)
    },
  }
}

function rest({ start, end }: Hole, size: number): readonly Hole[] {
  return end - start > size ? [{ start: start + size, end }] : []
}

/** In order, each as large as it can be. */
function joined(holes: readonly Hole[]): readonly Hole[] {
  const result: Hole[] = []
  for (const hole of holes.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last?.end === hole.start) result.splice(-1, 1, { start: last.start, end: hole.end })
    else result.push(hole)
  }
  return result
}
