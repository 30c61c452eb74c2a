/**
 * Reads the number of a port; 0 stands for any that is free.
 *
 * @throws TypeError that says what is expected.
 */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new TypeError('expected a whole number from 0 to 65535')
  return port
}
