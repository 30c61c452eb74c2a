import { groupDigits } from './group-digits.ts'

/** Returns a number with its noun: `1 file`, `2,001 files`. The noun can include a verb: `'file is'` and `'files are'`. */
export function pluralize(number: number, one: string, many: string = `${one}s`): string {
  return `${groupDigits(number)} ${number === 1 ? one : many}`
}
