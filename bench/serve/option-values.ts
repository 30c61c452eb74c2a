import { basename, isAbsolute } from 'node:path'
import { InvalidArgumentError } from 'commander'

interface Named {
  readonly name: string
}

/** Splits a list at its commas. */
export function parseList(text: string): readonly string[] {
  return text.split(',').filter(Boolean)
}

/** Reads a whole number above 0. */
export function parsePositiveInteger(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new InvalidArgumentError(`Expected a whole number above 0, found "${text}".`)
}

/** Makes a parser for lists of names, which selects items with `selectByName`. */
export function createNamesParser(items: readonly Named[]): (text: string) => readonly string[] {
  return (text) => {
    const names = parseList(text)
    const unknown = names.find((name) => !items.some((item) => matchesName(name, item, items)))
    if (unknown === undefined) return names
    throw new InvalidArgumentError(`"${unknown}" is not one of ${items.map(({ name }) => name).join(', ')}.`)
  }
}

/**
 * Returns the items with these names. A name without an item of its own selects all items that begin with it and a hyphen
 * (`answer` selects `answer-3k`, …). Returns all items if there are no names.
 */
export function selectByName<Item extends Named>(
  items: readonly Item[],
  names: readonly string[],
): readonly Item[] {
  return names.length === 0
    ? items
    : items.filter((item) => names.some((name) => matchesName(name, item, items)))
}

function matchesName(name: string, item: Named, items: readonly Named[]): boolean {
  return items.some((other) => other.name === name) ? item.name === name : item.name.startsWith(`${name}-`)
}

/** Returns the command line that runs now, without folders of this machine. */
export function formatCommandLine(name: string): string {
  const words = process.argv.slice(2).map((word) => (isAbsolute(word) ? basename(word) : word))
  return ['pnpm', name, ...words].join(' ')
}
