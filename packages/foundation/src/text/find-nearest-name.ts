/**
 * Finds the known name that the user probably meant, ignoring case. Less than a third of the letters may differ.
 * Returns `undefined` without such a name.
 */
export function findNearestName(wanted: string, names: readonly string[]): string | undefined {
  const found = names.map((name) => ({
    name,
    changes: countChanges(wanted.toLowerCase(), name.toLowerCase()),
  }))
  const [nearest] = found.toSorted((a, b) => a.changes - b.changes)
  return nearest && nearest.changes * 3 < nearest.name.length ? nearest.name : undefined
}

/** Counts the letters to add, remove, replace or swap with the next (optimal string alignment distance). */
function countChanges(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, index) => index)]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    rows.push(current)
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current[column] = Math.min(
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
  }
  return at(one.length, other.length)
}
