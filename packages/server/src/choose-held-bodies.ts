/** How much memory bodies may take, in bytes. */
export interface MemoryLimits {
  /** Of all bodies together. */
  readonly memoryBudget: number
  /** Of one body. */
  readonly largestBody: number
}

/**
 * The paths whose bodies are held in memory: the smallest first, as long as the budget lasts. The
 * smaller a body, the more a file-system call costs beside sending it.
 */
export function chooseHeldBodies(
  files: readonly { readonly path: string; readonly size: number }[],
  { memoryBudget, largestBody }: MemoryLimits,
): ReadonlySet<string> {
  const held = new Set<string>()
  let left = memoryBudget
  for (const { path, size } of files.toSorted((a, b) => a.size - b.size)) {
    if (size > left || size > largestBody) break
    held.add(path)
    left -= size
  }
  return held
}
