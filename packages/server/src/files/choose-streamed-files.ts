/** Limits for the memory of bodies, in bytes. */
export interface MemoryLimits {
  /** The limit for all bodies together. */
  readonly memoryBudget: number
  /** The limit for one body. */
  readonly largestBody: number
}

/**
 * Returns the files whose bodies are not held in memory, in order of size. The smallest files fill the
 * budget first because file-system calls cost most compared with sending a small body.
 */
export function chooseStreamedFiles<File extends { readonly size: number }>(
  files: readonly File[],
  { memoryBudget, largestBody }: MemoryLimits,
): readonly File[] {
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  if (bytes <= memoryBudget && files.every(({ size }) => size <= largestBody)) return []
  const inOrder = files.toSorted((a, b) => a.size - b.size)
  let left = memoryBudget
  const first = inOrder.findIndex(({ size }) => {
    left -= size
    return left < 0 || size > largestBody
  })
  return first === -1 ? [] : inOrder.slice(first)
}
