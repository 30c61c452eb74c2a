/** Returns the total number of bytes. */
export function sumBytes(blobs: Iterable<{ readonly size: number }>): number {
  let bytes = 0
  for (const { size } of blobs) bytes += size
  return bytes
}
