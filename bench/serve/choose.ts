import { nearestName } from './nearest-name.ts'

/** Something that is asked for by name. */
interface Named {
  readonly name: string
}

/**
 * Those whose name is given or, where none has that name, begins with it and a hyphen (`bun` for
 * `bun-routes` and `bun-directory`); all when nothing is given.
 *
 * @throws TypeError for a name that fits none.
 */
export function choose<Item extends Named>(
  items: readonly Item[],
  names: readonly string[],
): readonly Item[] {
  const isExact = (name: string): boolean => items.some((item) => item.name === name)
  const fits = (name: string, item: Item): boolean =>
    isExact(name) ? item.name === name : item.name.startsWith(`${name}-`)
  const unknown = names.find((name) => !items.some((item) => fits(name, item)))
  if (unknown !== undefined) throw new TypeError(messageOf(unknown, items))
  return names.length === 0 ? items : items.filter((item) => names.some((name) => fits(name, item)))
}

function messageOf(unknown: string, items: readonly Named[]): string {
  const names = items.map(({ name }) => name)
  return `"${unknown}" is none of ${names.join(', ')}; did you mean "${nearestName(unknown, names)}"?`
}
