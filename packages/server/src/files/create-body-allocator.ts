/**
 * Bytes that bodies share an allocation of. Each allocation of its own costs some hundred bytes beside its
 * content; and one of them that a slow reader holds on to keeps no more than this of an old build.
 */
const slabSize = 1024 * 1024

/** Bytes of a body that has an allocation of its own. */
const largestShared = 64 * 1024

/** Makes a function that finds room for bodies that live and die together. */
export function createBodyAllocator(): (size: number) => Uint8Array<ArrayBuffer> {
  let slab = new ArrayBuffer(0)
  let used = 0
  return (size) => {
    if (size > largestShared) return new Uint8Array(size)
    if (used + size > slab.byteLength) {
      slab = new ArrayBuffer(slabSize)
      used = 0
    }
    used += size
    return new Uint8Array(slab, used - size, size)
  }
}
