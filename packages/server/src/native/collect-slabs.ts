import { noSlab } from '@serve-dist/engine'

type Body = Uint8Array<ArrayBuffer>

const nowhere = [noSlab, 0] as const

/** Memory that holds bodies, and for each of them the number of its slab and where it begins there. */
export interface Slabs {
  readonly slabs: readonly Uint8Array[]
  readonly places: readonly (readonly [slab: number, begin: number])[]
}

/**
 * Joins bodies that lie side by side in one allocation, so that 40,000 of them are a few slabs. Nothing else lies in these:
 * nobody may write to a slab. A body that is not in memory, or empty, has none.
 */
export function collectSlabs(bodies: readonly (Body | undefined)[]): Slabs {
  const places = bodies.map((): readonly [number, number] => nowhere)
  const byMemory = new Map<ArrayBuffer, [number: number, body: Body][]>()
  for (const [number, body] of bodies.entries()) {
    if (body === undefined || body.length === 0) continue
    const known = byMemory.get(body.buffer)
    if (known === undefined) byMemory.set(body.buffer, [[number, body]])
    else known.push([number, body])
  }

  const slabs: Uint8Array[] = []
  for (const [memory, inMemory] of byMemory) {
    inMemory.sort(([, a], [, b]) => a.byteOffset - b.byteOffset)
    let begin = inMemory[0]?.[1].byteOffset ?? 0
    let end = begin
    for (const [number, { byteOffset, length }] of inMemory) {
      if (byteOffset > end) {
        slabs.push(new Uint8Array(memory, begin, end - begin))
        begin = byteOffset
      }
      end = Math.max(end, byteOffset + length)
      places[number] = [slabs.length, byteOffset - begin]
    }
    slabs.push(new Uint8Array(memory, begin, end - begin))
  }
  return { slabs, places }
}
