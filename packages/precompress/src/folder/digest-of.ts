import { hash } from 'node:crypto'

/** SHA-256 in lower-case hexadecimal, without an object that is thrown away after one use. */
export function digestOf(content: Uint8Array | string): string {
  return hash('sha256', content, 'hex')
}
