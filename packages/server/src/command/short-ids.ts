/** People compare as many digits as git shows them. */
const fewestDigits = 8

/** Makes ids short for people: all as long as it takes to tell them apart. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const unique = [...new Set(ids)]
  let digits = fewestDigits
  while (new Set(unique.map((id) => id.slice(0, digits))).size < unique.length) digits += 1
  return (id) => id.slice(0, digits)
}
