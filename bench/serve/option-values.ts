import { InvalidArgumentError } from 'commander'

/** Something that an option names. */
interface Named {
  readonly name: string
}

/** The parts of a list that commas separate. */
export function list(text: string): readonly string[] {
  return text.split(',').filter(Boolean)
}

/** A whole number above 0. */
export function positive(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new InvalidArgumentError(`Expected a whole number above 0, found "${text}".`)
}

/** A list of names that `choose` finds among these. */
export function namesOf(items: readonly Named[]): (text: string) => readonly string[] {
  return (text) => {
    const names = list(text)
    const unknown = names.find((name) => !items.some((item) => fits(name, item, items)))
    if (unknown === undefined) return names
    throw new InvalidArgumentError(`"${unknown}" is none of ${items.map(({ name }) => name).join(', ')}.`)
  }
}

/**
 * Those whose name is given or, where none has that name, begins with it and a hyphen (`bun` for
 * `bun-routes` and `bun-directory`); all when nothing is given.
 */
export function choose<Item extends Named>(
  items: readonly Item[],
  names: readonly string[],
): readonly Item[] {
  return names.length === 0 ? items : items.filter((item) => names.some((name) => fits(name, item, items)))
}

function fits(name: string, item: Named, items: readonly Named[]): boolean {
  return items.some((other) => other.name === name) ? item.name === name : item.name.startsWith(`${name}-`)
}
