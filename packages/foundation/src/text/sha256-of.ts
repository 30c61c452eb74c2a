import { hash } from 'node:crypto'

/** Returns the SHA-256 of a content in lower-case hexadecimal digits. */
export function sha256Of(content: Uint8Array | string): string {
  return hash('sha256', content, 'hex')
}
