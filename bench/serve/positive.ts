/**
 * The number that an option gives.
 *
 * @throws TypeError that names the option and what was found.
 */
export function positive(option: string, text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new TypeError(`--${option}: expected a whole number above 0, found "${text}"`)
}
