import type { ContentCoding } from '@serve-dist/manifest'

/** Below this share of the original's size a variant costs more (disk, memory, caches) than it brings. */
const smallestSaving = 0.05

/**
 * Whether a variant is worth keeping: it saves more bytes than the fields that it adds to every response,
 * and at least 5 % of the original.
 */
export function pays(coding: ContentCoding, originalSize: number, encodedSize: number): boolean {
  const saved = originalSize - encodedSize
  return saved > addedFields(coding).length && saved >= originalSize * smallestSaving
}

function addedFields(coding: ContentCoding): string {
  return `Content-Encoding: ${coding}\r\nVary: Accept-Encoding\r\n`
}
