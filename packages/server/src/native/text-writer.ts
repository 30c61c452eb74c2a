/** A buffer of concatenated Latin-1 texts. */
export interface TextWriter {
  /** @returns the offset of the text. */
  readonly add: (text: string) => number
  /** Returns the whole buffer. */
  readonly written: () => Uint8Array
}

/** Characters per write: writing each text separately takes longer. */
const chunk = 16 * 1024

export function createTextWriter(): TextWriter {
  let memory = Buffer.allocUnsafeSlow(64 * 1024)
  let pending: string[] = []
  let [written, used] = [0, 0]

  function flush(): void {
    if (used > memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(used, 2 * memory.length))
      memory.copy(larger, 0, 0, written)
      memory = larger
    }
    memory.write(pending.join(''), written, 'latin1')
    pending = []
    written = used
  }

  return {
    add(text) {
      const begin = used
      pending.push(text)
      used += text.length
      if (used - written >= chunk) flush()
      return begin
    },
    written() {
      flush()
      return memory.subarray(0, used)
    },
  }
}
