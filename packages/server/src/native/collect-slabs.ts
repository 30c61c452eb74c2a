import { noSlab } from '@serve-dist/engine'

type Body = Uint8Array<ArrayBuffer>

/** Collects the memory that holds bodies. */
export interface SlabCollector {
  /** Adds a body, or `undefined` for a body that is not in memory. */
  readonly add: (body: Body | undefined) => void
  /** Returns the number of added bodies. */
  readonly count: () => number
  /** Merges the memory in steps. The caller can do other work after each step. */
  readonly collect: () => Generator<void, Slabs>
}

/** The slabs, and two numbers for each body: the index of its slab and its offset there. */
export interface Slabs {
  readonly slabs: readonly Uint8Array[]
  readonly places: Uint32Array
}

/**
 * Merges adjacent bodies of an allocation, so that 40,000 bodies become a few slabs. Slabs contain only
 * bodies and must not be changed. Bodies that are empty or not in memory have no slab.
 *
 * @param most - the maximum number of bodies.
 */
export function createSlabCollector(most: number): SlabCollector {
  const byMemory = new Map<ArrayBuffer, number[]>()
  // Separate arrays of numbers: reading scattered objects would dominate the run time.
  const begins = new Float64Array(most)
  const ends = new Float64Array(most)
  let count = 0

  const beginOf = (number: number): number => begins[number] ?? 0

  function* collect(): Generator<void, Slabs> {
    const slabs: Uint8Array[] = []
    const places = new Uint32Array(2 * count).fill(noSlab)
    for (const [memory, numbers] of byMemory) {
      numbers.sort((one, other) => beginOf(one) - beginOf(other))
      let begin = beginOf(numbers[0] ?? 0)
      let end = begin
      for (const number of numbers) {
        if (beginOf(number) > end) {
          slabs.push(new Uint8Array(memory, begin, end - begin))
          begin = beginOf(number)
        }
        end = Math.max(end, ends[number] ?? 0)
        places[2 * number] = slabs.length
        places[2 * number + 1] = beginOf(number) - begin
      }
      slabs.push(new Uint8Array(memory, begin, end - begin))
      yield
    }
    return { slabs, places }
  }

  return {
    add(body) {
      if (body !== undefined && body.length > 0) {
        const known = byMemory.get(body.buffer)
        if (known === undefined) byMemory.set(body.buffer, [count])
        else known.push(count)
        begins[count] = body.byteOffset
        ends[count] = body.byteOffset + body.length
      }
      count += 1
    },
    count: () => count,
    collect,
  }
}
