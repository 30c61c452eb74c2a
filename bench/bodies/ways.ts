/** How a body comes from its file to the socket. */
export interface Way {
  readonly name: string
  readonly kind: 'memory' | 'pooled' | 'chunks' | 'ahead' | 'path'
  /** In bytes, where it is read in chunks. */
  readonly chunkSize: number
}

const kibibyte = 1024

/** Every way that is measured. */
export const ways: readonly Way[] = [
  { name: 'memory', kind: 'memory', chunkSize: 0 },
  { name: 'pooled', kind: 'pooled', chunkSize: 0 },
  { name: 'chunks-16', kind: 'chunks', chunkSize: 16 * kibibyte },
  { name: 'chunks-48', kind: 'chunks', chunkSize: 48 * kibibyte },
  { name: 'chunks-128', kind: 'chunks', chunkSize: 128 * kibibyte },
  { name: 'ahead-48', kind: 'ahead', chunkSize: 48 * kibibyte },
  { name: 'path', kind: 'path', chunkSize: 64 * kibibyte },
]

/** @throws TypeError for a way that is not there. */
export function parseWay(name: string): Way {
  const way = ways.find((candidate) => candidate.name === name)
  if (way === undefined) throw new TypeError(`expected one of ${ways.map((each) => each.name).join(', ')}`)
  return way
}
