import { InvalidArgumentError } from 'commander'

/** The parts of a list that commas separate. */
export function list(text: string): readonly string[] {
  return text.split(',').filter(Boolean)
}

/** A whole number above 0. */
export function positive(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new InvalidArgumentError('Expected a whole number above 0.')
}
