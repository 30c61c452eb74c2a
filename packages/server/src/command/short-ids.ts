/** Git also shows eight digits or fewer. */
const fewestDigits = 8

/** Returns a function that shortens ids to the length that tells them apart. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const unique = [...new Set(ids)]
  let digits = fewestDigits
  while (new Set(unique.map((id) => id.slice(0, digits))).size < unique.length) digits += 1
  return (id) => id.slice(0, digits)
}
