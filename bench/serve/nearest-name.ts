/** The name that takes the fewest changes of a letter to become another. */
export function nearestName(wanted: string, names: readonly string[]): string | undefined {
  return names.toSorted((a, b) => distance(a, wanted) - distance(b, wanted))[0]
}

/** By Levenshtein, a row of his table at a time. */
function distance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [row, letter] of one.split('').entries()) {
    const current = [row + 1]
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous.at(-1) ?? 0
}
