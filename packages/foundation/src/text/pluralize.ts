/** Returns a number with its noun: `1 file`, `2,001 files`. The noun can include a verb: `'file is'` and `'files are'`. */
export function pluralize(number: number, one: string, many: string = `${one}s`): string {
  return `${groupDigits(number)} ${number === 1 ? one : many}`
}

/** Formats a natural number: `999`, `2,001`. The first `toLocaleString` of a process takes 19 ms. */
export function groupDigits(number: number): string {
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}
