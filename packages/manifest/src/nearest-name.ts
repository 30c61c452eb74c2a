/** The known name that takes the fewest changes of a letter to become the wanted one, whatever the letters' case. */
export function nearestName(
  wanted: string,
  names: readonly string[],
): { readonly name: string; readonly changes: number } {
  const found = names.map((name) => ({
    name,
    changes: levenshtein(name.toLowerCase(), wanted.toLowerCase()),
  }))
  return found.reduce((best, next) => (next.changes < best.changes ? next : best), {
    name: '',
    changes: Infinity,
  })
}

/** The Levenshtein distance, computed one row of its table at a time. */
function levenshtein(one: string, other: string): number {
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
