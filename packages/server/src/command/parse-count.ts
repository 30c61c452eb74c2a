/**
 * Reads a number of things.
 *
 * @throws TypeError for anything but digits.
 */
export function parseCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) {
    throw new TypeError(`expected a whole number, 0 or more, found ${JSON.stringify(text)}`)
  }
  return Number(text)
}
