import { createHash } from 'node:crypto'

/** Bytes that nothing compresses, and the same in every run. */
export function noise(seed: number, size: number): Buffer {
  return createHash('shake256', { outputLength: size }).update(String(seed)).digest()
}
