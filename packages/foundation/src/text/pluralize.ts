/** Returns a number with its noun: `1 file`, `2 files`; with `'file is'` and `'files are'` also with its verb. */
export function pluralize(number: number, one: string, many: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
