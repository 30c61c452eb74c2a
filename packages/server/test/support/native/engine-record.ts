/** Builds a response record in the format of `packages/engine/src/binding.ts`: 7 bytes, aborted. */
export function recordOf(peer: string, head: string): Buffer {
  const record = Buffer.alloc(31 + peer.length + head.length)
  record.writeUInt32LE(record.length, 0)
  record.writeDoubleLE(1_700_000_000.5, 4)
  record.writeDoubleLE(0.25, 12)
  record.writeBigUInt64LE(7n, 20)
  record.set([3, 1, peer.length], 28)
  record.write(peer + head, 31, 'latin1')
  return record
}
