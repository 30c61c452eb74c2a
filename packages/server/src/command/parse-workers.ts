import { usableCores } from '@serve-dist/manifest/usable-cores'

/** Nobody has more cores; a mistyped number must not start thousands of processes. */
const most = 1024

/**
 * Reads a number of workers; `auto` is as many as there are cores that this process may use.
 *
 * @throws TypeError when it is neither.
 */
export function parseWorkers(text: string): number {
  if (text === 'auto') return usableCores()
  const count = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (!(count >= 1 && count <= most)) {
    throw new TypeError(`expected auto or a whole number from 1 to ${most}, found "${text}"`)
  }
  return count
}
