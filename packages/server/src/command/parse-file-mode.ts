/**
 * Reads permissions as `chmod` takes them: `660`, `0600`.
 *
 * @throws TypeError when they are none.
 */
export function parseFileMode(text: string): number {
  if (!/^0?[0-7]{3}$/.test(text)) {
    throw new TypeError(`expected permissions in octal digits such as 660, found "${text}"`)
  }
  return Number.parseInt(text, 8)
}
