import { hash } from 'node:crypto'

/** SHA-256 in lower-case hexadecimal, without an object that is thrown away after one use. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}
