/** Texts one behind another, in Latin-1. */
export interface TextWriter {
  /** @returns where the text begins. */
  readonly add: (text: string) => number
  /** All of it. */
  readonly written: () => Uint8Array
}

export function createTextWriter(): TextWriter {
  let memory = Buffer.allocUnsafeSlow(64 * 1024)
  let used = 0
  return {
    add(text) {
      const begin = used
      used += text.length
      if (used > memory.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(used, 2 * memory.length))
        memory.copy(larger, 0, 0, begin)
        memory = larger
      }
      memory.write(text, begin, 'latin1')
      return begin
    },
    written: () => memory.subarray(0, used),
  }
}
