/** So many of the items, at even distances; the same ones each time. */
export function spreadOver<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (count >= items.length) return items
  const distance = items.length / count
  return Array.from({ length: count }, (_, index) => Math.floor((index + 0.5) * distance)).flatMap((place) =>
    items.slice(place, place + 1),
  )
}
