/** How much memory bodies may take, in bytes. */
export interface MemoryLimits {
  /** Of all bodies together. */
  readonly memoryBudget: number
  /** Of one body. */
  readonly largestBody: number
}

/**
 * The files whose bodies are not held in memory, in order of size. Those are held that are smallest, as
 * long as the budget lasts: the smaller a body, the more a file-system call costs beside sending it.
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
