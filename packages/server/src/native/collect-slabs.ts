import { noSlab } from '@serve-dist/engine'

type Body = Uint8Array<ArrayBuffer>

/** Finds memory that holds bodies. */
export interface SlabCollector {
  /** `undefined` for a body that is not in memory. */
  readonly add: (body: Body | undefined) => void
  /** How many bodies were added. */
  readonly count: () => number
  /** Rests now and then, as `flattenSite` does. */
  readonly collect: () => Generator<void, Slabs>
}

/** Memory that holds bodies, and for each of them the number of its slab and where it begins there, by turns. */
export interface Slabs {
  readonly slabs: readonly Uint8Array[]
  readonly places: Uint32Array
}

/**
 * Joins bodies that lie side by side in one allocation, so that 40,000 of them are a few slabs. Nothing else lies in these:
 * nobody may write to a slab. A body that is not in memory, or empty, has none.
 *
 * @param most - as many bodies as there are at most.
 */
export function createSlabCollector(most: number): SlabCollector {
  const byMemory = new Map<ArrayBuffer, number[]>()
  // Numbers of their own: objects that are spread over memory take longer to look at than all else.
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
