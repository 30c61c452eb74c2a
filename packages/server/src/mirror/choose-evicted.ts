/** A blob that lies in the cache. */
export interface CachedBlob {
  readonly sha256: string
  /** In bytes. */
  readonly size: number
  /** When it was last read or written, in milliseconds since the epoch. */
  readonly used: number
}

/** The blobs that have to go so that all fit: those that nobody has used for longest. */
export function chooseEvicted(
  blobs: readonly CachedBlob[],
  { most, isNeeded }: { readonly most: number; readonly isNeeded: (sha256: string) => boolean },
): readonly CachedBlob[] {
  let bytes = blobs.reduce((sum, { size }) => sum + size, 0)
  const evicted: CachedBlob[] = []
  for (const blob of blobs.toSorted((a, b) => a.used - b.used)) {
    if (bytes <= most) break
    if (isNeeded(blob.sha256)) continue
    bytes -= blob.size
    evicted.push(blob)
  }
  return evicted
}
